import { Type as t } from "@sinclair/typebox"
import type { ErrorCode } from "../../domain/error.ts"
import { answerOf } from "../errors.ts"
import { meaningOf } from "./errors.ts"

const Bounds = t.Object({
  min: t.Optional(t.Number({ description: "Minimum. Absent if there is none." })),
  max: t.Optional(t.Number({ description: "Maximum. Absent if there is none." })),
})

const Fault = t.Object(
  {
    pointer: t.String({
      description: "JSON Pointer to the field in the body. For a query parameter, its first segment is the parameter name.",
    }),
    code: t.String({ description: "Code of the problem, such as `required` or `out_of_range`." }),
    detail: t.String({ description: "Explanation for people. The text may change." }),
    allowed: t.Optional(
      t.Union([t.Array(t.Union([t.String(), t.Number()])), Bounds], {
        description: "Allowed values or bounds. Absent if any value of the type is allowed.",
      }),
    ),
  },
  { title: "Fault", description: "One problem of the request." },
)

/** Schema of all error responses (RFC 9457). The members after `errors` belong to single codes. */
export const Problem = t.Object(
  {
    type: t.String({ format: "uri", description: "URL of a page that explains the code." }),
    title: t.String({ description: "Short fixed description of the code." }),
    status: t.Integer({ description: "HTTP status." }),
    detail: t.String({ description: "Explanation for people. The text may change." }),
    code: t.String({ description: "Stable error code. Programs should use this member to distinguish errors." }),
    request_id: t.String({ description: "Id of the request, equal to the header `X-Request-Id`." }),
    errors: t.Optional(
      t.Array(Fault, { maxItems: 20, description: "Problems of the request. Present only with `validation_failed` and `invalid_query`." }),
    ),
    required_scopes: t.Optional(
      t.Array(t.String(), { description: "Scopes, any one of which is enough. Present only with `insufficient_scope`." }),
    ),
    existing_id: t.Optional(
      t.Integer({ description: "Id of the existing item or user. Present only with `goal_exists`, `funnel_exists` and `already_member`." }),
    ),
    limit_bytes: t.Optional(t.Integer({ description: "Maximum size of the body in bytes. Present only with `body_too_large`." })),
    limit: t.Optional(t.Integer({ description: "Maximum number of items. Present only with `limit_reached`." })),
    resource: t.Optional(t.String({ description: "Kind of the items. Present only with `limit_reached`." })),
    needed_days: t.Optional(
      t.Number({ description: "Days for which the report needs visitors to be recognized. Present only with `identity_insufficient`." }),
    ),
    mode: t.Optional(t.String({ description: "Identity mode of the site. Present only with `identity_insufficient`." })),
    horizon_days: t.Optional(
      t.Union([t.Number(), t.Null()], {
        description:
          "Days for which the site recognizes visitors. null: as long as data is kept. Present only with `identity_insufficient`.",
      }),
    ),
    options: t.Optional(t.Array(t.Unknown(), { description: "Possible solutions. Present only with `identity_insufficient`." })),
    required_permission: t.Optional(t.String({ description: "Missing permission. Present only with `forbidden`." })),
    state: t.Optional(t.String({ description: "Current state of the resource. Present only with `invalid_state`." })),
    used_by: t.Optional(t.Array(t.Unknown(), { description: "Items that use the segment. Present only with `segment_in_use`." })),
    pointer: t.Optional(
      t.String({
        description: "JSON Pointer to the field. Present only with `compat_id_taken`, `invalid_destination` and `destination_not_allowed`.",
      }),
    ),
  },
  { title: "Problem", description: "Error response in the format `application/problem+json`." },
)

/** Schema of error responses of the private API, whose codes have additional members. */
export const PrivateProblem = t.Object(
  {
    ...Problem.properties,
    reason: t.Optional(t.String({ description: "Problem of the destination. Present only with `invalid_destination`." })),
    suggestions: t.Optional(t.Array(t.String(), { description: "Suggested free slugs. Present only with `slug_taken`." })),
    current: t.Optional(
      t.Object({}, { additionalProperties: true, description: "Current state of the resource. Present only with `version_conflict`." }),
    ),
    organizations: t.Optional(
      t.Array(t.Unknown(), { description: "Organizations of which the user is the only owner. Present only with `sole_owner`." }),
    ),
    source: t.Optional(t.String({ description: "Place where the setting is defined. Present only with `set_elsewhere`." })),
    needed_bytes: t.Optional(t.Integer({ description: "Required space in bytes. Present only with `not_enough_space`." })),
    free_bytes: t.Optional(t.Integer({ description: "Free space in bytes. Present only with `not_enough_space`." })),
  },
  { title: "Problem", description: "Error response in the format `application/problem+json`." },
)

/** Schema of the response to an MCP message that cannot be read. */
export const RpcErrorResponse = t.Object(
  {
    jsonrpc: t.Literal("2.0", { description: "Version of JSON-RPC." }),
    id: t.Union([t.String(), t.Integer(), t.Null()], { description: "Id of the request. null if it cannot be read." }),
    error: t.Object(
      {
        code: t.Integer({ description: "Code of the error, as JSON-RPC and MCP define it." }),
        message: t.String({ description: "Explanation for people. The text may change." }),
        data: t.Optional(t.Object({}, { additionalProperties: true, description: "Details of the error." })),
      },
      { description: "Error of the request." },
    ),
  },
  { title: "RpcError", description: "Error of JSON-RPC 2.0." },
)

/** Example values of members that belong to single codes. */
const MEMBERS: Partial<Record<ErrorCode, object>> = {
  invalid_query: {
    errors: [
      { pointer: "/period", code: "invalid_choice", detail: "period must be one of today, 7d, 30d.", allowed: ["today", "7d", "30d"] },
    ],
  },
  validation_failed: { errors: [{ pointer: "/steps/0/value", code: "required", detail: "value is required." }] },
  insufficient_scope: { required_scopes: ["stats:read"] },
  goal_exists: { existing_id: 7 },
  funnel_exists: { existing_id: 3 },
  already_member: { existing_id: 8 },
  body_too_large: { limit_bytes: 65_536 },
  limit_reached: { limit: 200, resource: "goals" },
  forbidden: { required_permission: "site:write" },
  identity_insufficient: { needed_days: 7, mode: "daily", horizon_days: 1, options: ["weekly", "monthly"] },
}

/** Base URL of examples if none is configured. */
export const EXAMPLE_BASE_URL = "http://localhost:8080"

export function problemExample(code: ErrorCode, baseUrl: string): object {
  const { status, title } = answerOf(code)
  const facts = {
    type: `${baseUrl || EXAMPLE_BASE_URL}/errors/${code}`,
    title,
    status,
    detail: meaningOf(code),
    code,
    request_id: "01JD3V8Q2M7Z",
  }
  return { summary: title, value: { ...facts, ...MEMBERS[code] } }
}
