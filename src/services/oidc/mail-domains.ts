import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { domainNotFound, domainNotVerified, domainTaken, type MailDomain, parseDomain, proofOf } from "../../domain/identity-provider.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteDomain, domainById, insertDomain, listDomains, verifiedDomain, verifyDomain } from "../../store/catalog/oidc.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { Random } from "../secrets/secrets.ts"
import { refuseLockOut } from "../sign-in/sso-rule.ts"

/** Returns the texts of a domain's TXT records, an empty list if it has none. Rejects if no name server responds. */
export type ResolveTxt = (domain: string) => Promise<readonly string[]>

/** Email domains of organizations, verified by a TXT record. A domain entry of another organization is `domain_not_found`. */
export interface MailDomains {
  /** Returns the domains by ascending id. */
  list(organizationId: number): Promise<MailDomain[]>
  get(organizationId: number, id: string | undefined): Promise<MailDomain>
  /** Adds a domain, or returns the existing entry. Throws `validation_failed`, `domain_taken`, `limit_reached`. */
  create(organizationId: number, body: unknown, alongside?: Alongside<MailDomain>): Promise<MailDomain>
  /** Verifies a domain by its TXT record. Throws `domain_not_verified`, `domain_taken`, `outbound_disabled`. */
  verify(organizationId: number, id: string | undefined, alongside?: Alongside<MailDomain>): Promise<MailDomain>
  /** Removes a domain. Throws `provider_required` if members could no longer sign in. */
  remove(organizationId: number, id: string | undefined, alongside?: Alongside<MailDomain>): Promise<void>
}

interface MailDomainsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  resolveTxt: ResolveTxt
  /** Whether the instance may send requests. */
  outbound: Pick<Outbound, "enabled">
  hasInstanceProvider: boolean
}

const TOKEN_BYTES = 20

export function createMailDomains({ catalog, clock, random, resolveTxt, outbound, hasInstanceProvider }: MailDomainsOptions): MailDomains {
  async function find(statements: Statements, organizationId: number, id: string | undefined): Promise<MailDomain> {
    const domain = await domainById(statements, organizationId, parseId(id) ?? 0)
    if (!domain) throw domainNotFound()
    return domain
  }
  async function refuseTaken(
    statements: Statements,
    { domain, organizationId }: { domain: string; organizationId: number },
  ): Promise<void> {
    const proved = await verifiedDomain(statements, domain)
    if (proved && proved.organization_id !== organizationId) throw domainTaken()
  }

  return {
    list: (organizationId) => listDomains(catalog, organizationId),
    get: (organizationId, id) => find(catalog, organizationId, id),
    create(organizationId, body, alongside) {
      const { domain } = parseDomain(body)
      return catalog.transaction(async (statements) => {
        await refuseTaken(statements, { domain, organizationId })
        const own = await listDomains(statements, organizationId)
        const known = own.find((other) => other.domain === domain)
        if (known) return known
        if (own.length >= ORGANIZATION.domains) throw tooManyDomains()
        const token = random(TOKEN_BYTES).toHex()
        const made = await insertDomain(statements, { organization_id: organizationId, domain, token, created_at: clock.now() })
        await alongside?.(statements, { after: made! }) // the domain was not in the list
        return made!
      })
    },
    async verify(organizationId, id, alongside) {
      const { domain, verified_at, ...named } = await find(catalog, organizationId, id)
      if (verified_at !== null) return { ...named, domain, verified_at }
      if (!outbound.enabled) throw new AppError("outbound_disabled", "Outgoing requests are turned off on this instance.")
      const records = await resolveTxt(domain).catch((): readonly string[] => [])
      if (!records.includes(proofOf(named))) throw domainNotVerified()
      return catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, id)
        await refuseTaken(statements, { domain, organizationId })
        await verifyDomain(statements, before.id, clock.now())
        const after = await find(statements, organizationId, id)
        await alongside?.(statements, { before, after })
        return after
      })
    },
    async remove(organizationId, id, alongside) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, id)
        await deleteDomain(statements, before.id)
        await refuseLockOut(statements, organizationId, hasInstanceProvider)
        await alongside?.(statements, { before })
      })
    },
  }
}

const tooManyDomains = () =>
  new AppError("limit_reached", `An organization can have up to ${ORGANIZATION.domains} email domains.`, {
    limit: ORGANIZATION.domains,
    resource: "domains",
  })

/** Creates the TXT record lookup, which is used only to verify domains. `servers` replaces the name servers of the system. */
export function txtResolver(servers?: readonly string[]): ResolveTxt {
  return async (domain) => {
    // Imported on first use to keep the start fast.
    const { Resolver } = await import("node:dns/promises")
    const resolver = new Resolver({ timeout: 3_000, tries: 2 })
    if (servers) resolver.setServers(servers)
    // Bun returns each 255-byte part of a long text as a text of its own; our proof fits into one part. The final dot prevents lookups in
    // local search domains.
    return (await resolver.resolveTxt(`${domain}.`)).flat()
  }
}
