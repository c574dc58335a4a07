import { creation as creationWith } from "../../plugin/creation.ts"
import type { Idempotency } from "../../services/idempotency.ts"
import { answerOf } from "../errors.ts"

/** Creations of the core's own routes, with the statuses that refusals have here. */
export const creation = (idempotency: Idempotency) => creationWith(idempotency, statusOf)

/** Status of a code. */
export const statusOf = (code: Parameters<typeof answerOf>[0]): number => answerOf(code).status
