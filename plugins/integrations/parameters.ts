import { type TSchema, Type as t } from "@sinclair/typebox"

/** Describes a query parameter for the OpenAPI document. The handler parses it, so that all faults are reported at once. */
export const parameter = (schema: object): TSchema => t.Optional(t.String({ "x-parameter": schema }))

/** Describes the query of a route, whose handler refuses unknown parameters. */
export const queryOf = (parameters: Record<string, TSchema>) => t.Object(parameters, { additionalProperties: true })

/** Parameters of a page of rows. */
export const PAGE = {
  limit: parameter({ type: "integer", minimum: 1, maximum: 200, description: "Rows per page. Default: 50." }),
  cursor: parameter({ type: "string", description: "Cursor of the page, from `next_cursor`." }),
}

/** Query of a list, whose rows can also be counted. */
export const LIST = queryOf({
  ...PAGE,
  count: parameter({ type: "string", enum: ["true", "false"], description: "Whether to count all rows. Default: false." }),
})
