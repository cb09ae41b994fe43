// The schema of the server, read from openapi.json: addresses, what they take and what they give.
import { get } from "./api.js";
import { element } from "./dom.js";

const schema = await get("/openapi.json");
const resolve = part => part?.$ref ? schema.components.schemas[part.$ref.split("/").pop()] : part;

function typeOf(part) {
  if (!part) return "";
  if (part.$ref) return part.$ref.split("/").pop();
  if (part.anyOf) return part.anyOf.map(typeOf).filter(one => one !== "null").join(" or ");
  if (part.enum) return part.enum.map(one => JSON.stringify(one)).join(" | ");
  if (part.const !== undefined) return JSON.stringify(part.const);
  if (part.type === "array") return `list of ${typeOf(part.items) || (part.prefixItems || []).map(typeOf).join(", ")}`;
  return part.type ?? "anything";
}

function fields(properties, required) {
  const rows = Object.entries(properties).map(([name, part]) => element("tr", {},
    element("th", { scope: "row" }, element("code", { textContent: name })),
    element("td", { textContent: typeOf(part) }),
    element("td", { textContent: required.includes(name) ? "needed" : part.default === undefined || part.default === null ? "" : `usually ${JSON.stringify(part.default)}` })));
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "fields" }, element("table", { className: "values" },
    element("thead", {}, element("tr", {}, ...["field", "type", ""].map(title => element("th", { scope: "col", textContent: title })))), element("tbody", {}, ...rows)));
}

function example(method, path, body, parameters) {
  const query = new URLSearchParams(parameters.filter(each => each.required).map(each => [each.name, `${each.name.toUpperCase()}`]));
  const filled = Object.fromEntries((body?.required ?? []).map(name => [name, name === "model" ? "my-bert" : body.properties[name].$ref ? { model: "my-bert" } : "a warm, funny film"]));
  const data = method === "post" ? ` -H 'Content-Type: application/json' -d '${JSON.stringify(filled)}'` : "";
  return element("pre", { tabIndex: 0 }, element("code", { textContent: `curl ${`${query}` ? `'${location.origin}${path}?${query}'` : location.origin + path}${data}` }));
}

const operations = Object.entries(schema.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => {
  const body = resolve(one.requestBody?.content["application/json"]?.schema);
  const answer = one.responses["200"]?.content?.["application/json"]?.schema;
  const parameters = one.parameters ?? [];
  const asked = body ? fields(body.properties, body.required ?? [])
    : parameters.length ? fields(Object.fromEntries(parameters.map(each => [each.name, each.schema])), parameters.filter(each => each.required).map(each => each.name)) : "";
  const shape = resolve(answer?.type === "array" ? answer.items : answer);
  return element("section", {}, element("h2", {}, element("code", { textContent: `${method.toUpperCase()} ${path}` })), element("p", { textContent: one.description ?? "" }),
    asked, example(method, path, body, parameters),
    shape?.properties ? element("details", {}, element("summary", { textContent: `Gives ${typeOf(answer)}` }), fields(shape.properties, shape.required ?? [])) : "");
}));
document.getElementById("operations").replaceChildren(...operations);
