import { Elysia } from "elysia"
import type { Actor } from "../domain/audit.ts"
import type { ApiKey, Scope } from "../domain/key.ts"
import type { Site } from "../domain/site.ts"
import type { Read } from "./body.ts"
import { type Call, guard } from "./guard.ts"

/** Requirements of a route for an API key: a scope, or several conditions. */
export type KeyRequirement = Scope | KeyRequirements
export interface KeyRequirements {
  /** Scopes of which one is enough. */
  scopes: readonly Scope[]
  /** Whether the key must have access to all sites of the organization. */
  unrestricted?: boolean
  /** Whether the route changes nothing although it is not a GET. It works during maintenance. */
  reads?: boolean
  /** Throws if a resource in the path below the site does not exist. Runs before all later checks. */
  finds?(site: Site, call: Call, key: ApiKey): Promise<unknown>
  /** Parser of the body. Default: JSON. */
  read?: Read
  /** Media types of the response. Default: JSON. */
  produces?: readonly string[]
}

/** Checks 3 to 8 of api.md section 2. Each throws the error of the first failing check. */
export interface KeyGate {
  /** Returns the key if it is valid, has the scope and is within its rate limit. */
  admit(call: Call, requirements: KeyRequirements): Promise<ApiKey>
  /** Returns the site in the path if the key has access to it. */
  siteOf(key: ApiKey, call: Call): Promise<Site>
  refuseFormat(call: Call, requirements: KeyRequirements): void
  /** Returns the key as the originator of an action, for the audit log. */
  actorOf(key: ApiKey, call: Call): Actor
}

/**
 * Creates the macros with which public routes declare their requirements. Handlers receive the key. `scope` is for routes of the
 * organization, `siteScope` for routes whose path names a site, which their handlers also receive. One of several scopes is enough.
 */
export function publicRouter({ admit, siteOf, refuseFormat, actorOf }: KeyGate, name = "core") {
  // Each router has a unique name. Elysia treats plugins with equal names as one and would use the first gate.
  return new Elysia({ name: `publicRouter ${name}` }).macro({
    scope: (requirement: KeyRequirement) => {
      const requirements = requirementsOf(requirement)
      const identify = async (call: Call) => {
        const apiKey = await admit(call, requirements)
        refuseFormat(call, requirements)
        return { apiKey, actor: actorOf(apiKey, call) }
      }
      return { detail: described(requirements), ...guard(identify, requirements.read) }
    },
    siteScope: (requirement: KeyRequirement) => {
      const requirements = requirementsOf(requirement)
      const identify = async (call: Call) => {
        const apiKey = await admit(call, requirements)
        const site = await siteOf(apiKey, call)
        await requirements.finds?.(site, call, apiKey)
        refuseFormat(call, requirements)
        return { apiKey, site, actor: actorOf(apiKey, call) }
      }
      return { detail: described(requirements), ...guard(identify, requirements.read) }
    },
  })
}

export type PublicRouter = ReturnType<typeof publicRouter>

const requirementsOf = (requirement: KeyRequirement): KeyRequirements =>
  typeof requirement === "string" ? { scopes: [requirement] } : requirement

/** Describes the requirements for the documentation. */
const described = ({ scopes, unrestricted }: KeyRequirements): object => ({
  "x-required-scopes": scopes,
  ...(unrestricted && { "x-unrestricted-key": true }),
})
