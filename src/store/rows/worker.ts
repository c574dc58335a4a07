import { answerRowReads } from "./reader.ts"

/** The thread through which a query worker reads row tables on a server. */
self.onmessage = answerRowReads()
