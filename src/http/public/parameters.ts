import { type TSchema, Type as t } from "@sinclair/typebox"
import { INPUT, type ToolName } from "./report-schemas.ts"

/**
 * Creates a query parameter. The router accepts any text, and the query parser validates it, so that all problems are reported
 * at once. The schema is for the documentation.
 */
export const parameter = (schema: object, isRequired = false): TSchema =>
  t.Optional(t.String({ "x-parameter": schema, "x-required": isRequired }))

/** Returns the arguments of an MCP tool as query parameters, except the site, which is part of the path. */
export function toolParameters(tool: ToolName): Record<string, TSchema> {
  const { properties, required = [] } = INPUT[tool] as { properties: Readonly<Record<string, object>>; required?: readonly string[] }
  const named = Object.entries(properties).filter(([name]) => name !== "site_id")
  return Object.fromEntries(named.map(([name, schema]) => [name, parameter(schema, required.includes(name))]))
}
