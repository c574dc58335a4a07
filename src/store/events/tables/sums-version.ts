import { hashSources } from "./source-hash.ts" with { type: "macro" }

/** Differs for other code that computes sums. Query workers don't import it, because running the macro takes time when they start from sources. */
export const SUMS_VERSION: string = hashSources()
