import type { ErrorCode } from "../../domain/error.ts"
import { allErrorCodes } from "../../plugin/errors.ts"
import { creates, isVersioned } from "./failures.ts"
import type { PlacedRoute } from "./route.ts"

type Private = PlacedRoute & Required<Pick<PlacedRoute, "access">>

/** The failures that a private operation can answer, in the order in which it is looked for them (areas/00 section 4). */
export function privateFailuresOf(route: Private): ErrorCode[] {
  const { method, detail, query } = route
  const groups: (readonly ErrorCode[])[] = [
    ["invalid_header", "misdirected_request"],
    route.ids.length > 0 ? ["not_found"] : [],
    gateFailures(route),
    thingFailures(route),
    // A write that takes no body refuses the fields of one.
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

/** Everything before the things that the path names. */
function gateFailures({ method, access: { permission, gate } }: Private): ErrorCode[] {
  const { ask, sudo, reads, duringMaintenance, personal, waits, beforeSetUp, feature } = gate
  const isAsked = ask !== "open"
  const isOwn = ask === "open" || ask === "self"
  const writes = method !== "get" && !reads && !duringMaintenance
  const hasRole = ask === "site" || ask === "organization"
  const ifSo = (applies: boolean | undefined, code: ErrorCode): ErrorCode[] => (applies ? [code] : [])
  return [
    ...ifSo(!beforeSetUp, "setup_required"),
    ...ifSo(method !== "get", "origin_not_allowed"),
    ...ifSo(isAsked, "session_required"),
    ...ifSo(!isOwn, "mfa_enrollment_required"),
    ...ifSo(feature !== undefined, "feature_disabled"),
    ...ifSo(ask === "site", "site_not_found"),
    ...ifSo(ask === "organization", "organization_not_found"),
    ...ifSo(hasRole, "sso_required"),
    ...ifSo((hasRole && permission !== "member") || ask === "instance_admin" || personal, "forbidden"),
    ...ifSo(personal || (isAsked && writes), "impersonation_read_only"),
    // Instance admins go on.
    ...ifSo(waits || (isAsked && writes && ask !== "instance_admin"), "maintenance"),
    ...ifSo(sudo, "reauth_required"),
    ...ifSo(isAsked, "rate_limited"),
  ]
}

/** Each kind of thing has its code. */
const thingFailures = ({ ids }: Private): ErrorCode[] =>
  ids.flatMap((id) => allErrorCodes().filter((code) => code === `${id.replace(/_id$/, "")}_not_found`))
