import type { ErrorCode } from "../../domain/error.ts"
import { SCOPES } from "../../domain/key.ts"
import type { PlacedRoute } from "./route.ts"

/** Returns the error codes of an operation, in the order of the checks (api.md section 2). */
export function failuresOf(route: PlacedRoute): ErrorCode[] {
  const { method, path, scopes, ids, detail } = route
  // A deletion accepts no body and rejects one that has fields.
  const readsBody = Boolean(detail.requestBody) || method === "delete"
  const isWrite = method !== "get" && !scopes.includes("stats:read")
  const groups: (readonly ErrorCode[])[] = [
    // Paths with encoded slashes are never valid.
    ["invalid_header", ...(ids.length > 0 ? (["not_found"] as const) : [])],
    scopes.length > 0 ? keyFailures(route) : [],
    ids.map((id) => (id.endsWith("_id") ? (`${id.slice(0, -"_id".length)}_not_found` as ErrorCode) : "site_not_found")), // each kind of thing has its code
    path.endsWith("/query") ? ["site_not_found"] : [],
    ["not_acceptable"],
    readsBody ? ["body_too_large", "unsupported_media_type", "invalid_json"] : [],
    path.endsWith("/mcp") ? [] : ["invalid_query"],
    "cursor" in route.query ? ["invalid_cursor"] : [],
    creates(route) ? ["idempotency_in_progress", "idempotency_key_reused"] : [],
    readsBody && !path.endsWith("/mcp") ? ["validation_failed"] : [],
    detail["x-failures"] ?? [],
    creates(route) ? ["limit_reached"] : [],
    isVersioned(route) ? ["precondition_failed"] : [],
    ["internal_error", "unavailable", ...(isWrite ? (["storage_full"] as const) : [])],
    scopes.length > 0 ? ["storage_damaged"] : [],
  ]
  return [...new Set(groups.flat())]
}

function keyFailures({ scopes, detail }: PlacedRoute): ErrorCode[] {
  const isAnyKeyEnough = SCOPES.every((scope) => scopes.includes(scope))
  return [
    "missing_api_key",
    "invalid_api_key",
    ...(isAnyKeyEnough ? [] : (["insufficient_scope"] as const)),
    ...(detail["x-unrestricted-key"] ? (["unrestricted_key_required"] as const) : []),
    "rate_limited",
  ]
}

/** Returns whether a route supports `Idempotency-Key`: it creates a resource or starts a job. */
export const creates = ({ method, answers, access }: Pick<PlacedRoute, "method" | "answers" | "access">): boolean =>
  access ? method === "post" && ("201" in answers || "202" in answers) && KEYED.includes(access.gate.ask) : "201" in answers

const KEYED: readonly string[] = ["signed_in", "organization", "site"]

/** Returns whether a route changes or deletes a versioned resource. */
export const isVersioned = ({ method, access, detail }: Pick<PlacedRoute, "method" | "access" | "detail">): boolean =>
  method === "patch" ||
  (access ? (detail["x-failures"]?.includes("precondition_failed") ?? false) : method === "delete" && !detail["x-unversioned"])

/** Returns whether responses of a route have an ETag and support `If-None-Match`. */
export const isTagged = ({ method, answers, detail }: Pick<PlacedRoute, "method" | "answers" | "detail">): boolean =>
  method === "get" && ("200" in answers || "304" in (detail.responses ?? {}))
