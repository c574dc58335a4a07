import { Elysia } from "elysia"
import type { Actor } from "../domain/audit.ts"
import { API } from "../domain/limits.ts"
import type { Organization } from "../domain/organization.ts"
import type { Site } from "../domain/site.ts"
import type { OrganizationAccess, SiteAccess } from "../services/access.ts"
import type { Person } from "../services/sessions.ts"
import { type Read, readJsonAsSent, refusingForms } from "./body.ts"
import { type Call, guard } from "./guard.ts"

/** Who was let in, and where. */
export interface Admitted {
  organization?: Organization
  site?: Site
  user?: { id: number }
  permissions?: ReadonlySet<string>
}

/** What a route says of itself beside its permission. */
export interface Terms {
  /** Who it is must have been proved within the last ten minutes. */
  sudo?: boolean
  /** Changes nothing although it is no GET: goes on during maintenance and for somebody who only looks. */
  reads?: boolean
  /** Turns the body into a value; JSON that must be there unless something else is said. */
  read?: Read
  /** Its `read` takes forms with files. */
  multipart?: boolean
  /** The site in the path is one that was deleted. */
  deleted?: boolean
  /** The plugin whose switch turns the route off. */
  feature?: string
  /** Answers before the instance is set up. */
  beforeSetUp?: boolean
  /**
   * Shut to whoever acts for somebody else, in either mode; and where it is about the own account also to a session that an
   * organization's own provider has opened.
   */
  personal?: boolean
  /** Of an open route: its writes wait while the instance is maintained, as those of others do. */
  waits?: boolean
  /** Looks for what else the path names, before a body is read; throws its `<thing>_not_found`. */
  find?(params: Call["params"], where: Admitted): Promise<unknown>
}

/** What a private route asks of who calls it. Every route has exactly one of these. */
export type Rule =
  | ({ ask: "open" } & Terms)
  | ({ ask: "self" } & Terms)
  | ({ ask: "signed_in" } & Terms)
  | ({ ask: "instance_admin" } & Terms)
  | ({ ask: "site"; permission: string } & Terms)
  | ({ ask: "organization"; permission: string } & Terms)

/** A signed-in caller. `actor` is what an audit row says of it. */
export type Caller = Person & { actor: Actor }
export type Visitor = { actor: Actor; person?: Person }

/** Decides who may go on; in the order of areas/00-conventions.md section 4. */
export interface Authorize {
  open(call: Call, rule: Rule): Promise<Visitor>
  self(call: Call, rule: Rule): Promise<Caller>
  signedIn(call: Call, rule: Rule): Promise<Caller>
  instanceAdmin(call: Call, rule: Rule): Promise<Caller>
  site(call: Call, rule: Rule & { ask: "site" }): Promise<Caller & SiteAccess>
  organization(call: Call, rule: Rule & { ask: "organization" }): Promise<Caller & OrganizationAccess>
}

/** Lets a caller in, then looks for what the path names. */
const admitting =
  <Wanted extends Rule, Who extends object>(admit: (call: Call, rule: Wanted) => Promise<Who>, rule: Wanted) =>
  async (call: Call): Promise<Who> => {
    const admitted = await admit(call, rule)
    await rule.find?.(call.params, admitted)
    return admitted
  }

type Permitted = string | ({ permission: string } & Terms)
const termsOf = (wanted: Permitted) => (typeof wanted === "string" ? { permission: wanted } : wanted)

const usualRead: Read = readJsonAsSent(API.privateBodyBytes)

/** A size that is too large is told first: `usualRead` looks at the media type by itself. */
function readOf({ read, multipart }: Rule): Read {
  if (!read) return usualRead
  return multipart ? read : refusingForms(read)
}

/** What the documents say of a rule. */
export interface Gate extends Pick<Terms, "sudo" | "reads" | "personal" | "waits" | "beforeSetUp" | "deleted" | "feature"> {
  ask: Rule["ask"]
}

/** The framework keeps what a macro describes, and nothing else of it. */
function described(rule: Rule, permission: string, plugin: string | undefined): object {
  const { ask, sudo, reads, personal, waits, beforeSetUp, deleted, feature = plugin } = rule
  const terms = { sudo, reads, personal, waits, beforeSetUp, deleted, feature }
  const said = Object.entries(terms).filter(([, value]) => value !== undefined)
  const gate: Gate = { ask, ...Object.fromEntries(said) }
  return { "x-permission": permission, "x-gate": gate }
}

/**
 * Private routes name what they ask of their caller: `{ can: "links:write" }` on the site in the path, `{ canOrganization: … }`
 * on the organization in it, `self` of anybody who is signed in on the own account, `signedIn` on anything else, `instanceAdmin`,
 * or `open`. A handler without one has no
 * caller, which is a type error; a route without one stops the start.
 */
export function privateRouter(authorize: Authorize, name = "core") {
  const detailOf = (rule: Rule, permission: string) => described(rule, permission, name === "core" ? undefined : name)
  // A name of its own each: Elysia takes two of one name for the same, and would ask the first one's `authorize`.
  return new Elysia({ name: `privateRouter ${name}` }).macro({
    open: (terms: true | Terms) => {
      const rule: Rule = { ask: "open", ...(terms === true ? {} : terms) }
      return { detail: detailOf(rule, "open"), ...guard(admitting(authorize.open, rule), readOf(rule)) }
    },
    self: (terms: true | Terms) => {
      const rule: Rule = { ask: "self", ...(terms === true ? {} : terms) }
      return { detail: detailOf(rule, "self"), ...guard(admitting(authorize.self, rule), readOf(rule)) }
    },
    /** The checks of every other route hold: the second factor that a policy wants, and maintenance. */
    signedIn: (terms: true | Terms) => {
      const rule: Rule = { ask: "signed_in", ...(terms === true ? {} : terms) }
      return { detail: detailOf(rule, "self"), ...guard(admitting(authorize.signedIn, rule), readOf(rule)) }
    },
    instanceAdmin: (terms: true | Terms) => {
      const rule: Rule = { ask: "instance_admin", ...(terms === true ? {} : terms) }
      const detail = detailOf(rule, "instance_admin")
      return { detail, ...guard(admitting(authorize.instanceAdmin, rule), readOf(rule)) }
    },
    can: (wanted: Permitted) => {
      const rule = { ask: "site" as const, ...termsOf(wanted) }
      const detail = detailOf(rule, rule.permission)
      return { detail, ...guard(admitting(authorize.site, rule), readOf(rule)) }
    },
    canOrganization: (wanted: Permitted) => {
      const rule = { ask: "organization" as const, ...termsOf(wanted) }
      const detail = detailOf(rule, rule.permission)
      return { detail, ...guard(admitting(authorize.organization, rule), readOf(rule)) }
    },
  })
}

export type PrivateRouter = ReturnType<typeof privateRouter>
