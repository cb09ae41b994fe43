glasshead explain my-nli "the hotel was cold and loud" --choice travel --choice food --template "This review is about {}." --method erasure-mean-embedding
