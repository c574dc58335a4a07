import type { Idempotency } from "../../services/api-keys/idempotency.ts"
import { creation as creationWith } from "../../web/creation.ts"
import { answerOf } from "../errors.ts"

/** Returns the creation helper for core routes, with the HTTP statuses of error codes. */
export const creation = (idempotency: Idempotency) => creationWith(idempotency, statusOf)

/** Returns the HTTP status of an error code. */
export const statusOf = (code: Parameters<typeof answerOf>[0]): number => answerOf(code).status
