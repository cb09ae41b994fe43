// Questions to the server. What cannot be answered is a Problem with one sentence.
export class Problem extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

const BUSY = 503, TRIES = 5;

async function answer(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not answer: it has stopped, or the network is down.", 0);
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw Object.assign(new Problem(said.error || `The server said ${response.status}.`, response.status), {
    seconds: Number(response.headers.get("Retry-After")) || 0,
  });
}

// A model with too many questions says when to come again.
async function patient(path, options) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await answer(path, options);
    } catch (problem) {
      if (problem.status !== BUSY || !problem.seconds || attempt === TRIES) throw problem;
      await new Promise(done => setTimeout(done, 1000 * problem.seconds));
      if (options.signal?.aborted) throw new DOMException("left", "AbortError");
    }
  }
}

const posted = (body, signal) => ({
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
});

export const get = async (path, query = {}, signal) =>
  (await patient(path + (Object.keys(query).length ? "?" + new URLSearchParams(query) : ""), { signal })).json();
export const ask = async (path, body, signal) => (await patient(path, posted(body, signal))).json();
export const file = async (path, body) => (await patient(path, posted(body))).blob();
