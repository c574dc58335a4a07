import { Elysia } from "elysia"
import type { Actor } from "../domain/audit.ts"
import { API } from "../domain/limits.ts"
import type { Organization } from "../domain/organization.ts"
import type { Site } from "../domain/site.ts"
import type { OrganizationAccess, SiteAccess } from "../services/access/access.ts"
import type { Person } from "../services/sign-in/sessions.ts"
import { type Read, readJsonAsSent, refusingForms } from "./body.ts"
import { type Call, guard } from "./guard.ts"

/** Authorized caller with the site or organization from the path. */
export interface Admitted {
  organization?: Organization
  site?: Site
  user?: { id: number }
  permissions?: ReadonlySet<string>
}

/** Conditions of a route in addition to its permission. */
export interface Terms {
  /** Further permissions that the caller needs, such as `export:read` for the file of a report. */
  also?: readonly string[]
  /** Whether the user must have confirmed their identity within the last ten minutes. */
  sudo?: boolean
  /** Whether the route changes nothing although it is not a GET. It works during maintenance and read-only impersonation. */
  reads?: boolean
  /** Whether a write works during maintenance and read-only impersonation. For the routes below `auth`. */
  duringMaintenance?: boolean
  /** Parser of the body. Default: required JSON. */
  read?: Read
  /** Whether `read` accepts forms with files. */
  multipart?: boolean
  /** Whether the site in the path is a deleted one. */
  deleted?: boolean
  /** Plugin that must be enabled. */
  feature?: string
  /** Whether the route works before the instance is set up. */
  beforeSetUp?: boolean
  /**
   * Whether the route is unavailable during impersonation. Account routes are also unavailable for sessions opened by the provider
   * of an organization.
   */
  personal?: boolean
  /** Whether writes of an open route are rejected during maintenance. */
  waits?: boolean
  /** Finds further resources in the path before the body is read. Throws `<thing>_not_found`. */
  find?(params: Call["params"], where: Admitted): Promise<unknown>
}

/** Access rule of a private route. Every route has exactly one. */
export type Rule =
  | ({ ask: "open" } & Terms)
  | ({ ask: "self" } & Terms)
  | ({ ask: "signed_in" } & Terms)
  | ({ ask: "instance_admin" } & Terms)
  | ({ ask: "site"; permission: string } & Terms)
  | ({ ask: "organization"; permission: string } & Terms)

/** Signed-in caller. `actor` is the form for audit entries. */
export type Caller = Person & { actor: Actor }
/** Caller of an open route, signed in or not. */
export type Visitor = { actor: Actor; person?: Person }

/** Authorization of private routes, in the order of areas/00-conventions.md section 4. */
export interface Authorize {
  open(call: Call, rule: Rule): Promise<Visitor>
  self(call: Call, rule: Rule): Promise<Caller>
  signedIn(call: Call, rule: Rule): Promise<Caller>
  instanceAdmin(call: Call, rule: Rule): Promise<Caller>
  site(call: Call, rule: Rule & { ask: "site" }): Promise<Caller & SiteAccess>
  organization(call: Call, rule: Rule & { ask: "organization" }): Promise<Caller & OrganizationAccess>
}

/** Authorizes a caller, then finds the resources in the path. */
const admitting =
  <R extends Rule, C extends object>(admit: (call: Call, rule: R) => Promise<C>, rule: R) =>
  async (call: Call): Promise<C> => {
    const admitted = await admit(call, rule)
    await rule.find?.(call.params, admitted)
    return admitted
  }

type Requirement = string | ({ permission: string } & Terms)
const withTerms = (requirement: Requirement) => (typeof requirement === "string" ? { permission: requirement } : requirement)

export const usualRead: Read = readJsonAsSent(API.privateBodyBytes)

/** Checks the media type after the size. `usualRead` already does this. */
function readOf({ read, multipart }: Rule): Read {
  if (!read) return usualRead
  return multipart ? read : refusingForms(read)
}

/** Describes a rule for the documentation. */
export interface Gate
  extends Pick<Terms, "also" | "sudo" | "reads" | "duringMaintenance" | "personal" | "waits" | "beforeSetUp" | "deleted" | "feature"> {
  ask: Rule["ask"]
}

/** Returns the OpenAPI members of a rule. Elysia keeps only the `detail` of a macro. */
export function described(rule: Rule, permission: string, plugin: string | undefined): object {
  const { ask, also, sudo, reads, duringMaintenance, personal, waits, beforeSetUp, deleted, feature = plugin } = rule
  const terms = { also, sudo, reads, duringMaintenance, personal, waits, beforeSetUp, deleted, feature }
  const given = Object.entries(terms).filter(([, value]) => value !== undefined)
  const gate: Gate = { ask, ...Object.fromEntries(given) }
  return { "x-permission": permission, "x-gate": gate }
}

/**
 * Creates a router whose routes declare their access rule: `{ can: "links:write" }` on the site in the path, `{ canOrganization: … }`
 * on the organization in the path, `self` for your own account, `signedIn` for other routes of signed-in users, `instanceAdmin`, or
 * `open`. A handler without a rule has no caller, which is a type error. A route without a rule stops the start.
 */
export function privateRouter(authorize: Authorize, name = "core") {
  const detailOf = (rule: Rule, permission: string) => described(rule, permission, name === "core" ? undefined : name)
  // Each router has a unique name. Elysia treats plugins with equal names as one and would use the first `authorize`.
  return new Elysia({ name: `privateRouter ${name}` }).macro({
    open: (terms: true | Terms) => {
      const rule: Rule = { ask: "open", ...(terms === true ? {} : terms) }
      return { detail: detailOf(rule, "open"), ...guard(admitting(authorize.open, rule), readOf(rule)) }
    },
    self: (terms: true | Terms) => {
      const rule: Rule = { ask: "self", ...(terms === true ? {} : terms) }
      return { detail: detailOf(rule, "self"), ...guard(admitting(authorize.self, rule), readOf(rule)) }
    },
    /** Signed-in users with all checks of other routes: required second factor and maintenance. */
    signedIn: (terms: true | Terms) => {
      const rule: Rule = { ask: "signed_in", ...(terms === true ? {} : terms) }
      return { detail: detailOf(rule, "self"), ...guard(admitting(authorize.signedIn, rule), readOf(rule)) }
    },
    instanceAdmin: (terms: true | Terms) => {
      const rule: Rule = { ask: "instance_admin", ...(terms === true ? {} : terms) }
      const detail = detailOf(rule, "instance_admin")
      return { detail, ...guard(admitting(authorize.instanceAdmin, rule), readOf(rule)) }
    },
    can: (requirement: Requirement) => {
      const rule = { ask: "site" as const, ...withTerms(requirement) }
      const detail = detailOf(rule, rule.permission)
      return { detail, ...guard(admitting(authorize.site, rule), readOf(rule)) }
    },
    canOrganization: (requirement: Requirement) => {
      const rule = { ask: "organization" as const, ...withTerms(requirement) }
      const detail = detailOf(rule, rule.permission)
      return { detail, ...guard(admitting(authorize.organization, rule), readOf(rule)) }
    },
  })
}

export type PrivateRouter = ReturnType<typeof privateRouter>
