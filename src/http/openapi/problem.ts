import { Type as t } from "@sinclair/typebox"
import type { ErrorCode } from "../../domain/error.ts"
import { answerOf } from "../errors.ts"
import { meaningOf } from "../public/errors.ts"

const Bounds = t.Object({ min: t.Optional(t.Number()), max: t.Optional(t.Number()) })

const Fault = t.Object(
  {
    pointer: t.String({ description: "JSON Pointer into the body; of a query parameter its name is the first segment" }),
    code: t.String({ description: "What is wrong, such as required or out_of_range" }),
    detail: t.String({ description: "For people; may change" }),
    allowed: t.Optional(
      t.Union([t.Array(t.Union([t.String(), t.Number()])), Bounds], {
        description: "The closed list, or the bounds, where there are some",
      }),
    ),
  },
  { title: "Fault", description: "One thing that is wrong with what was sent" },
)

/** Every error answer (RFC 9457). The members behind `errors` belong to single codes. */
export const Problem = t.Object(
  {
    type: t.String({ format: "uri-reference", description: "A page that explains the code" }),
    title: t.String({ description: "The fixed sentence of the code" }),
    status: t.Integer(),
    detail: t.String({ description: "For people; may change" }),
    code: t.String({ description: "Stable: the one member a program should branch on" }),
    request_id: t.String({ description: "Equals the header X-Request-Id" }),
    errors: t.Optional(t.Array(Fault, { maxItems: 20, description: "All that is wrong, of validation_failed and invalid_query" })),
    required_scopes: t.Optional(t.Array(t.String(), { description: "Any one of them is enough; of insufficient_scope" })),
    existing_id: t.Optional(t.Integer({ description: "Of goal_exists and funnel_exists" })),
    limit_bytes: t.Optional(t.Integer({ description: "Of body_too_large" })),
    limit: t.Optional(t.Integer({ description: "Of limit_reached" })),
    resource: t.Optional(t.String({ description: "Of what there are too many; of limit_reached" })),
    needed_days: t.Optional(t.Number({ description: "Of identity_insufficient, as the next three" })),
    mode: t.Optional(t.String()),
    horizon_days: t.Optional(t.Number()),
    options: t.Optional(t.Array(t.Unknown())),
  },
  { title: "Problem", description: "What went wrong, as application/problem+json" },
)

/** The same of the private API, whose codes have members of their own. */
export const PrivateProblem = t.Object(
  {
    ...Problem.properties,
    reason: t.Optional(t.String({ description: "Of invalid_destination" })),
    suggestions: t.Optional(t.Array(t.String(), { description: "Of slug_taken" })),
    required_permission: t.Optional(t.String({ description: "Of forbidden" })),
    current: t.Optional(t.Object({}, { additionalProperties: true, description: "The thing as it is now; of version_conflict" })),
    state: t.Optional(t.String({ description: "Of invalid_state" })),
    organizations: t.Optional(t.Array(t.Unknown(), { description: "Of sole_owner" })),
    used_by: t.Optional(t.Array(t.Unknown(), { description: "Of segment_in_use" })),
    source: t.Optional(t.String({ description: "Of set_elsewhere" })),
    pointer: t.Optional(
      t.String({ description: "Of compat_id_taken, invalid_destination and destination_not_allowed: where in the body" }),
    ),
    needed_bytes: t.Optional(t.Integer({ description: "Of not_enough_space, as the next one" })),
    free_bytes: t.Optional(t.Integer()),
  },
  { title: "Problem", description: "What went wrong, as application/problem+json" },
)

/** What a message to the MCP endpoint that cannot be read, or is no request, is answered. */
export const RpcFailureAnswer = t.Object(
  {
    jsonrpc: t.Literal("2.0"),
    id: t.Union([t.String(), t.Integer(), t.Null()]),
    error: t.Object({ code: t.Integer(), message: t.String(), data: t.Optional(t.Object({}, { additionalProperties: true })) }),
  },
  { title: "RpcError", description: "An error of JSON-RPC 2.0" },
)

/** Members of single codes, as an example shows them. */
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
  body_too_large: { limit_bytes: 65_536 },
  limit_reached: { limit: 200, resource: "goals" },
  forbidden: { required_permission: "site:write" },
  identity_insufficient: { needed_days: 7, mode: "daily", horizon_days: 1, options: ["weekly", "monthly"] },
}

export function problemExample(code: ErrorCode, baseUrl: string): object {
  const { status, title } = answerOf(code)
  const facts = { type: `${baseUrl}/errors/${code}`, title, status, detail: meaningOf(code), code, request_id: "01JD3V8Q2M7Z" }
  return { summary: title, value: { ...facts, ...MEMBERS[code] } }
}
