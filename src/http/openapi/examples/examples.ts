import { DEFINITION_EXAMPLES } from "./definitions.ts"
import { OTHER_EXAMPLES } from "./other-products.ts"
import { REPORT_EXAMPLES } from "./reports.ts"
import type { Examples } from "./shop.ts"
import { SITE_EXAMPLES } from "./sites.ts"

/** Example bodies of requests and responses, by operation. */
const EXAMPLES: Examples = { ...SITE_EXAMPLES, ...DEFINITION_EXAMPLES, ...REPORT_EXAMPLES, ...OTHER_EXAMPLES }

const FORMS = ["application/json", "multipart/form-data", "application/x-www-form-urlencoded"]

/** Returns the query string of an example request. */
export const queryExample = (operationId: string): string | undefined => EXAMPLES[operationId]?.query

/** Returns the example of a request body. */
export const requestExample = (operationId: string, mediaType: string): unknown =>
  FORMS.includes(mediaType) ? EXAMPLES[operationId]?.request : EXAMPLES[operationId]?.texts?.[mediaType]

/** Returns the example of a body of the successful response. */
export const responseExample = (operationId: string, mediaType: string): unknown =>
  mediaType === "application/json" ? EXAMPLES[operationId]?.response : EXAMPLES[operationId]?.texts?.[mediaType]
