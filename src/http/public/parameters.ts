import { type TSchema, Type as t } from "@sinclair/typebox"
import { INPUT, type ToolName } from "../mcp/input-schemas.ts"

/**
 * A query parameter. To the router its value is a text; the parser of the question judges it, so that all that is wrong is
 * said at once. The schema is for the documents.
 */
export const parameter = (schema: object, isRequired = false): TSchema =>
  t.Optional(t.String({ "x-parameter": schema, "x-required": isRequired }))

/** The arguments of a tool as query parameters: both forms take the same. The site stands in the path. */
export function toolParameters(tool: ToolName): Record<string, TSchema> {
  const { properties, required = [] } = INPUT[tool] as { properties: Readonly<Record<string, object>>; required?: readonly string[] }
  const named = Object.entries(properties).filter(([name]) => name !== "site_id")
  return Object.fromEntries(named.map(([name, schema]) => [name, parameter(schema, required.includes(name))]))
}
