import { type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import type { SentJson } from "../web/body.ts"

/** Unvalidated body of a write. The handler validates it with `inspect`, which reports all problems at once. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })
/** Unvalidated query with the parameters that the OpenAPI document shows. The handler parses them and reports all problems at once. */
export const queryWith = (parameters: Record<string, TSchema>) => t.Object(parameters, { additionalProperties: true })
/** Unvalidated query without documented parameters. A list has those of paging, which the OpenAPI document adds. */
export const AnyQuery = queryWith({})

const described = (schema: object): TSchema => t.Optional(t.String({ "x-parameter": schema }))

/** Query parameters as the OpenAPI document shows them. */
export const parameter = {
  text: (description: string) => described({ type: "string", description }),
  choice: (names: readonly string[], description: string) => described({ type: "string", enum: names, description }),
  number: (minimum: number, maximum: number, description: string) => described({ type: "integer", minimum, maximum, description }),
}
