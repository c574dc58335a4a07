import { type TObject, type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import type { Scope } from "../../domain/key.ts"
import { API, QUERY } from "../../domain/limits.ts"
import { PERIOD_CHOICES } from "../../domain/relative-period.ts"
import { type Expected, versionsIn } from "../../domain/version.ts"
import type { Idempotency } from "../../services/api-keys/idempotency.ts"
import { readJsonAsSent, type SentJson } from "../../web/body.ts"
import { creation as creationWith } from "../../web/creation.ts"
import { answerOf } from "../errors.ts"
import type { Detail } from "../openapi/route.ts"
import { INPUT, type ToolName } from "./report-schemas.ts"

/**
 * Creates a query parameter. The router accepts any text, and the query parser validates it, so that all problems are reported
 * at once. The schema is for the documentation.
 */
export const parameter = (schema: object, isRequired = false): TSchema =>
  t.Optional(t.String({ "x-parameter": schema, "x-required": isRequired }))

/** Descriptions of parameters whose argument has none, because the list of tools must stay small. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  metrics: "Metrics to return.",
  interval: "Size of the time buckets.",
  dimension: "Dimension of the rows.",
  property: "Key of the property. Required with the dimension `property`, otherwise not allowed.",
  order: "Sort order.",
  limit: "Maximum number of rows.",
  offset: "Number of rows to skip.",
}

/** Descriptions that replace those of the tools, which are short because models read all of them. */
const FULL_DESCRIPTIONS: Readonly<Record<string, string>> = {
  period: `Range: ${PERIOD_CHOICES}, counted back from today, which is included. Ignored if \`from\` and \`to\` are given.`,
  from: "First day, such as `2026-11-14`, or start as a time, such as `2026-11-14T08:00:00` in the time zone of the report or `2026-11-14T08:00:00Z`. Requires `to`, in the same form.",
  to: "Last day or last second, inclusive. A later end than today is moved to the end of today.",
  compare:
    "Range to compare with: `previous_period` is the range of equal length just before, `previous_year` the same dates a year earlier, `custom` the range from `compare_from` to `compare_to`. It is not shortened if today is not over.",
}

/** Returns the arguments of an MCP tool as query parameters, except the site, which is part of the path. */
export function toolParameters(tool: ToolName): Record<string, TSchema> {
  const { properties, required = [] } = INPUT[tool] as { properties: Readonly<Record<string, object>>; required?: readonly string[] }
  const named = Object.entries(properties).filter(([name]) => name !== "site_id")
  return Object.fromEntries(
    named.map(([name, schema]) => [
      name,
      parameter({ description: DESCRIPTIONS[name], ...restSchema(name, schema) }, required.includes(name)),
    ]),
  )
}

function restSchema(name: string, schema: object): object {
  const description = FULL_DESCRIPTIONS[name]
  if (description !== undefined) return { ...schema, description }
  return name === "filters" ? describedFilters(schema) : schema
}

/** Descriptions of the members of a filter, which the schemas of the tools leave out to stay short. */
const FILTER_MEMBERS: Readonly<Record<string, string>> = {
  dimension: "Dimension whose values are filtered.",
  operator: "Comparison with `values`. Default: `is`.",
  values: "Values to compare with. They are alternatives.",
}

/**
 * Describes the filters, which in a query string can also be groups of alternatives. The schemas of the tools have no groups, so that they
 * stay flat.
 */
export function describedFilters(schema: object): object {
  const { items } = schema as { items: { properties: Readonly<Record<string, object>> } } // a list of objects
  const members = Object.entries(items.properties).map(([name, member]) => [name, { description: FILTER_MEMBERS[name], ...member }])
  const filter = { ...items, properties: Object.fromEntries(members) }
  const any = {
    type: "array",
    minItems: 1,
    maxItems: QUERY.flatFilters,
    items: filter,
    description: "Alternatives: one of these filters must match. Without other members.",
  }
  return {
    ...schema,
    description: "All filters must match; inside one filter any value may match. Missing values are (none).",
    items: { ...filter, properties: { ...filter.properties, any }, required: [] },
  }
}

/** Body of a write. The service validates it, and the documentation describes it separately. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })

/** Documents the request body of an operation. */
export const takes = (schema: TSchema, { required = true } = {}): Pick<Detail, "requestBody"> => ({
  requestBody: { required, content: { "application/json": { schema } } },
})

/** Documents the request body of a change, in which all members are optional. */
export function takesSome(whole: TObject): Pick<Detail, "requestBody"> {
  const schema = t.Partial(whole, { title: `${whole.title}`.replace("Input", "Patch") })
  return { requestBody: { required: true, content: { "application/json": { schema }, "application/merge-patch+json": { schema } } } }
}

// The list parser validates these parameters, so that all problems are reported at once.
const { search: SEARCH, ...LIST } = toolParameters("list_sites")
export const ListQuery = LIST
export const SearchQuery = { ...LIST, search: SEARCH! }

export const Listed = <Row extends TSchema>(row: Row) =>
  t.Object(
    {
      data: t.Array(row, { description: "Items on this page of the list." }),
      has_more: t.Boolean({ description: "Whether more items follow." }),
      next_cursor: t.Optional(
        t.String({ description: "Value for the parameter `cursor` of the next page. Present only if there are more items." }),
      ),
    },
    { title: `${row.title}List`, description: "Page of a list, sorted by id in ascending order." },
  )

export const writes = (scopes: readonly Scope[]) => ({ scopes, read: readJsonAsSent(API.bodyBytes) })

/** Returns the versions that a request expects in its header `If-Match`. */
export const expectedVersions = (request: Request): Expected => versionsIn(request.headers.get("if-match"))

/** Returns the creation helper for core routes, with the HTTP statuses of error codes. */
export const creation = (idempotency: Idempotency) => creationWith(idempotency, statusOf)

/** Returns the HTTP status of an error code. */
export const statusOf = (code: Parameters<typeof answerOf>[0]): number => answerOf(code).status
