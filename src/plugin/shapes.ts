import { type TUnsafe, Type as t } from "@sinclair/typebox"
import type { SentJson } from "../web/body.ts"

/** Unvalidated body of a write. The handler validates it with `inspect`, which reports all problems at once. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })
/** Unvalidated query. The handler parses the parameters and reports all problems at once. */
export const AnyQuery = t.Object({}, { additionalProperties: true })
