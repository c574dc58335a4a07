/**
 * Disputes over hosts claimed by sites of several organizations (metrics.md 18.1). A dispute is settled by a DNS record with
 * which an organization proves its host, or by a decision of an instance admin. The directory of sites applies both from the
 * next event on.
 */

import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import {
  type ClaimReason,
  claimedHosts,
  type HostDecision,
  type HostDispute,
  type HostProof,
  type HostRulings,
  isProvable,
  parseHost,
  provableName,
} from "../../domain/host.ts"
import { parseId } from "../../domain/id.ts"
import { domainNotVerified, domainTaken, proofOf } from "../../domain/identity-provider.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import { fault, inspect } from "../../domain/shape.ts"
import type { Site, SiteDirectory } from "../../domain/site.ts"
import type { HostDisputeResponse } from "../../domain/site-response.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import {
  deleteHostDecision,
  deleteHostProof,
  hostDecision,
  hostProofById,
  insertHostProof,
  listHostDecisions,
  listHostProofs,
  listVerifiedHostProofs,
  putHostDecision,
  updateHostProof,
  verifiedHostProof,
} from "../../store/catalog/sites.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { Reload } from "../changes/changes.ts"
import type { Alongside } from "../definitions/site-things.ts"
import { inSlices } from "../lists/paging.ts"
import type { ResolveTxt } from "../oidc/mail-domains.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { Random } from "../secrets/secrets.ts"

export const HostProofInput = t.Object(
  {
    host: t.String({
      minLength: 1,
      maxLength: 255,
      description: "Host that the site lists, or a Plausible id of the site that is a host name.",
    }),
  },
  { additionalProperties: false, title: "HostProofInput" },
)

export const HostDecisionInput = t.Object(
  {
    organization_id: t.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Organization that the host belongs to. One of its sites must claim the host.",
    }),
  },
  { additionalProperties: false, title: "HostDecisionInput" },
)

/** A dispute as instance admins see it. Times are epoch milliseconds. */
export interface InstanceHostDispute {
  host: string
  organizations: {
    id: number
    name: string
    sites: { id: number; name: string }[]
    listed_at: number
    has_events: boolean
    is_proved: boolean
  }[]
  owner: { organization_id: number; reason: ClaimReason } | null
  decision: { organization_id: number; decided_at: number } | null
}

export interface HostClaims {
  /** Returns the disputes that involve a site, by host. */
  disputesOf(site: Site): HostDisputeResponse[]
  /** Returns the proofs of the hosts that a site claims, verified or not, by id ascending. */
  proofs(site: Site): Promise<HostProof[]>
  /** Returns one proof. Throws `host_proof_not_found`. */
  proof(site: Site, id: string | undefined): Promise<HostProof>
  /** Creates a proof of a host, or returns the existing one. Throws `validation_failed`, `limit_reached`. */
  createProof(site: Site, body: unknown, alongside?: Alongside<HostProof>): Promise<HostProof>
  /**
   * Verifies a proof by a DNS query. A verified proof of another organization is revoked if its record no longer exists;
   * `replaced` is then stored in the same transaction. Throws `host_proof_not_found`, `domain_not_verified`, `domain_taken`,
   * `outbound_disabled`.
   */
  verify(site: Site, id: string | undefined, also?: { alongside: Alongside<HostProof>; replaced: Alongside<HostProof> }): Promise<HostProof>
  removeProof(site: Site, id: string | undefined, alongside?: Alongside<HostProof>): Promise<void>
  /** Returns all disputes of the instance, by host. */
  list(): Promise<InstanceHostDispute[]>
  /** Returns one dispute. Throws `host_dispute_not_found`. */
  get(host: string): Promise<InstanceHostDispute>
  /** Assigns a host to an organization. Throws `host_dispute_not_found`, `validation_failed`. */
  decide(host: string, body: unknown, by: number | null, alongside?: Alongside<HostDecision>): Promise<InstanceHostDispute>
  /** Withdraws a decision, so that the usual rules apply again. Throws `host_dispute_not_found` for a host without a decision. */
  withdraw(host: string, alongside?: Alongside<HostDecision>): Promise<void>
}

interface HostClaimsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  resolveTxt: ResolveTxt
  /** Whether outgoing requests are enabled. */
  outbound: Pick<Outbound, "enabled">
  events: Pick<EventStore, "hasEventsFrom">
  sites: { directory: Pick<SiteDirectory, "disputes"> }
  hostRulings: HostRulings
}

const TOKEN_BYTES = 20

/** The rulings with the method that reads them again, after another node changed one. */
interface KeptRulings extends HostRulings {
  reload: Reload
}

/** Loads the decisions and proofs that the directory of sites needs before the first event. */
export async function loadHostRulings(catalog: Statements): Promise<KeptRulings> {
  const read = async (statements: Statements): Promise<HostRulings> => {
    const proofs = await inSlices((slice) => listVerifiedHostProofs(statements, slice))
    const decisions = await inSlices((slice) => listHostDecisions(statements, slice))
    return {
      proved: new Map(proofs.map(({ host, organization_id }) => [host, organization_id])),
      decided: new Map(decisions.map(({ host, organization_id }) => [host, organization_id])),
    }
  }
  const rulings: KeptRulings = {
    ...(await read(catalog)),
    reload: async (statements) => void Object.assign(rulings, await read(statements)),
  }
  return rulings
}

export function createHostClaims(options: HostClaimsOptions): HostClaims {
  const { catalog, clock, random, resolveTxt, outbound, events, sites, hostRulings } = options

  async function find(statements: Statements, site: Site, id: string | undefined): Promise<HostProof> {
    const proof = await hostProofById(statements, site.organization_id, parseId(id) ?? 0)
    if (!proof || !provableNames(site).includes(proof.host))
      throw new AppError("host_proof_not_found", "The organization has no proof with this id for a host of this site.")
    return proof
  }
  function disputeOver(host: string): HostDispute {
    const dispute = sites.directory.disputes().find((one) => one.host === host)
    if (!dispute) throw disputeNotFound()
    return dispute
  }
  async function shown({ host, claims, owner }: HostDispute): Promise<InstanceHostDispute> {
    const organizations = [...Map.groupBy(claims, ({ site }) => site.organization_id)].map(async ([id, own]) => ({
      id,
      name: (await organizationById(catalog, id))?.name ?? "",
      sites: own.map(({ site }) => ({ id: site.id, name: site.name })),
      listed_at: Math.min(...own.map(({ listedAt }) => listedAt)),
      has_events: own.some(({ site }) => events.hasEventsFrom(site.id, host)),
      is_proved: hostRulings.proved.get(provableName(host)) === id,
    }))
    const decision = await hostDecision(catalog, host)
    return {
      host,
      organizations: await Promise.all(organizations),
      owner: owner ? { organization_id: owner.organizationId, reason: owner.reason } : null,
      decision: decision ? { organization_id: decision.organization_id, decided_at: decision.decided_at } : null,
    }
  }

  return {
    disputesOf: (site) =>
      sites.directory.disputes(site).map(({ host, owner }) => ({
        host,
        belongs_to: !owner ? null : owner.organizationId === site.organization_id ? "this_organization" : "another_organization",
        reason: owner?.reason ?? null,
        provable_host: provableHostFor(site, host),
      })),
    async proofs(site) {
      const names = provableNames(site)
      return (await listHostProofs(catalog, site.organization_id)).filter(({ host }) => names.includes(host))
    },
    proof: (site, id) => find(catalog, site, id),
    createProof(site, body, alongside) {
      const host = readHost(site, body)
      return catalog.transaction(async (statements) => {
        const own = await listHostProofs(statements, site.organization_id)
        const known = own.find((proof) => proof.host === host)
        if (known) return known
        if (own.length >= ORGANIZATION.hostProofs) throw tooManyProofs()
        const token = random(TOKEN_BYTES).toHex()
        const created = await insertHostProof(statements, { organization_id: site.organization_id, host, token, created_at: clock.now() })
        await alongside?.(statements, { after: created })
        return created
      })
    },
    async verify(site, id, also) {
      const named = await find(catalog, site, id)
      if (named.verified_at !== null) return named
      if (!outbound.enabled) throw new AppError("outbound_disabled", "Outgoing requests are disabled on this instance.")
      const records = await resolveTxt(named.host).catch((): readonly string[] => [])
      if (!records.includes(proofOf(named))) throw domainNotVerified()
      return catalog.transaction(
        async (statements) => {
          const before = await find(statements, site, id)
          const holder = await verifiedHostProof(statements, before.host)
          if (holder && holder.id !== before.id) {
            const holds = records.includes(proofOf(holder)) && (await organizationById(statements, holder.organization_id)) !== undefined
            if (holds) throw domainTaken()
            await also?.replaced(statements, { before: holder, after: await updateHostProof(statements, holder.id, null) })
          }
          const after = await updateHostProof(statements, before.id, clock.now())
          await also?.alongside(statements, { before, after })
          return after
        },
        ({ host, organization_id }) => hostRulings.proved.set(host, organization_id),
      )
    },
    async removeProof(site, id, alongside) {
      await catalog.transaction(
        async (statements) => {
          const before = await find(statements, site, id)
          await deleteHostProof(statements, before.id)
          await alongside?.(statements, { before })
          return before
        },
        ({ host, verified_at }) => verified_at !== null && hostRulings.proved.delete(host),
      )
    },
    list: () => Promise.all(sites.directory.disputes().map(shown)),
    get: async (host) => shown(disputeOver(host)),
    async decide(host, body, by, alongside) {
      const { claims } = disputeOver(host)
      const { fields, faults } = inspect(HostDecisionInput, body)
      const claimants = new Set(claims.map(({ site }) => site.organization_id))
      if (fields.organization_id !== undefined && faults.length === 0 && !claimants.has(fields.organization_id))
        faults.push(fault("/organization_id", "invalid_choice", "must be an organization with a site that claims the host"))
      refuseFaults(faults)
      const organization_id = fields.organization_id! // `refuseFaults` has thrown if it is missing
      await catalog.transaction(
        async (statements) => {
          const before = await hostDecision(statements, host)
          const after = await putHostDecision(statements, { host, organization_id, decided_by: by, decided_at: clock.now() })
          await alongside?.(statements, { ...(before && { before }), after })
        },
        () => hostRulings.decided.set(host, organization_id),
      )
      return shown(disputeOver(host))
    },
    async withdraw(host, alongside) {
      await catalog.transaction(
        async (statements) => {
          const before = await hostDecision(statements, host)
          if (!before) throw new AppError("host_dispute_not_found", "There is no decision about this host.")
          await deleteHostDecision(statements, host)
          await alongside?.(statements, { before })
        },
        () => hostRulings.decided.delete(host),
      )
    },
  }
}

/** Returns the names of a site's hosts for which the DNS can contain a record, without duplicates. */
const provableNames = (site: Site): string[] => [...new Set(claimedHosts(site).filter(isProvable).map(provableName))]

/** Returns the site's longest host name that equals the disputed host or is a parent of it. */
function provableHostFor(site: Site, disputed: string): string | null {
  const name = provableName(disputed)
  const above = provableNames(site).filter((own) => own === name || name.endsWith(`.${own}`))
  return above.sort((a, b) => b.length - a.length)[0] ?? null
}

function readHost(site: Site, body: unknown): string {
  const { fields, faults } = inspect(HostProofInput, body)
  const host = fields.host === undefined ? undefined : parseHost(fields.host)
  const name = host === undefined ? undefined : provableName(host)
  const names = provableNames(site)
  if (fields.host !== undefined && faults.length === 0) {
    if (host === undefined || !isProvable(host))
      faults.push(fault("/host", "invalid_host", "must be a name for which the DNS can hold a record"))
    else if (!names.includes(name!)) faults.push({ ...fault("/host", "invalid_choice", "must be a host of this site"), allowed: names })
  }
  refuseFaults(faults)
  return name! // refused just now without one
}

const disputeNotFound = () => new AppError("host_dispute_not_found", "This host is not disputed: at most one organization claims it.")

const tooManyProofs = () =>
  new AppError("limit_reached", `An organization can have ${ORGANIZATION.hostProofs} host proofs.`, {
    limit: ORGANIZATION.hostProofs,
    resource: "host_proofs",
  })
