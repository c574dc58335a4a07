import type { ErrorCode } from "../../domain/error.ts"
import { allErrorCodes } from "../../plugin/errors.ts"
import { creates, isVersioned } from "./failures.ts"
import type { PlacedRoute } from "./route.ts"

type Private = PlacedRoute & Required<Pick<PlacedRoute, "access">>

/** Returns the error codes of a private operation, in the order of the checks (areas/00 section 4). */
export function privateFailuresOf(route: Private): ErrorCode[] {
  const { method, detail, query } = route
  const groups: (readonly ErrorCode[])[] = [
    ["invalid_header", "misdirected_request"],
    route.ids.length > 0 ? ["not_found"] : [],
    gateFailures(route),
    lookupFailures(route),
    // A write without a body rejects one that has fields.
    method === "get" ? [] : ["body_too_large", "unsupported_media_type", "invalid_json"],
    ["invalid_query"],
    "cursor" in query ? ["invalid_cursor"] : [],
    creates(route) ? ["idempotency_in_progress", "idempotency_key_reused", "limit_reached"] : [],
    method === "get" ? [] : ["validation_failed"],
    method === "patch" ? ["version_conflict"] : [],
    detail["x-failures"] ?? [],
    isVersioned(route) ? ["precondition_failed"] : [],
    ["internal_error", "unavailable", "storage_damaged", ...(method === "get" ? [] : (["storage_full"] as const))],
  ]
  return [...new Set(groups.flat())]
}

/** Returns the error codes of the checks that precede the lookup of resources in the path. */
function gateFailures({ method, access: { permission, gate } }: Private): ErrorCode[] {
  const { ask, sudo, reads, duringMaintenance, personal, waits, beforeSetUp, feature } = gate
  const isAsked = ask !== "open"
  const isOwn = ask === "open" || ask === "self"
  const writes = method !== "get" && !reads && !duringMaintenance
  const hasRole = ask === "site" || ask === "organization"
  const when = (applies: boolean | undefined, code: ErrorCode): ErrorCode[] => (applies ? [code] : [])
  return [
    ...when(!beforeSetUp, "setup_required"),
    ...when(method !== "get", "origin_not_allowed"),
    ...when(isAsked, "session_required"),
    ...when(!isOwn, "mfa_enrollment_required"),
    ...when(feature !== undefined, "feature_disabled"),
    ...when(ask === "site", "site_not_found"),
    ...when(ask === "organization", "organization_not_found"),
    ...when(hasRole, "sso_required"),
    ...when((hasRole && permission !== "member") || ask === "instance_admin" || personal, "forbidden"),
    ...when(personal || (isAsked && writes), "impersonation_read_only"),
    // Instance admins can write during maintenance.
    ...when(waits || (isAsked && writes && ask !== "instance_admin"), "maintenance"),
    ...when(sudo, "reauth_required"),
    ...when(isAsked, "rate_limited"),
  ]
}

/** Returns the `<thing>_not_found` codes of the resources in the path. */
const lookupFailures = ({ ids }: Private): ErrorCode[] =>
  ids.flatMap((id) => allErrorCodes().filter((code) => code === `${id.replace(/_id$/, "")}_not_found`))
