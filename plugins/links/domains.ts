import { type Static, Type as t } from "@sinclair/typebox"
import {
  type Actor,
  AppError,
  etagOf,
  failures,
  fault,
  field,
  inspect,
  instantOrNull,
  isAddress,
  isObject,
  NoQuery,
  type OwnStatements,
  operationsOf,
  parseHost,
  parseId,
  readNothing,
  refuseFaults,
  refuseOtherVersion,
  refuseStaleBody,
  Sent,
  type Site,
  versionsIn,
} from "#plugin"
import { type Area, finding } from "./area.ts"
import { domainEntry } from "./audit-entries.ts"
import { acceptDestination, type DestinationTerms } from "./destination.ts"
import { linkError } from "./errors.ts"
import { versionOf } from "./input.ts"
import { LIMITS, type LinksHost } from "./link.ts"
import { DomainResponse } from "./responses.ts"
import { countLinksOnDomain, type Domain, deleteDomain, domainByHost, domainById, insertDomain, listDomains, updateDomain } from "./rows.ts"
import type { Cache } from "./serving/cache.ts"

const address = (description: string) => t.Optional(t.Union([t.String(), t.Null()], { description }))
const DESTINATIONS = {
  root_destination: address("Destination of requests without a slug. Default: null, a page with status 404."),
  not_found_destination: address("Destination of unknown slugs. Default: null, a page with status 404."),
}
const DomainInput = t.Object(
  { host: t.String({ minLength: 1, maxLength: 253, description: "Host, such as `go.example.com`." }), ...DESTINATIONS },
  { additionalProperties: false, title: "LinkDomainInput" },
)
/** The host cannot be changed, because short URLs and QR codes contain it. */
const DomainPatch = t.Object(DESTINATIONS, { additionalProperties: false, title: "LinkDomainPatch" })

interface DomainTerms {
  destinations: DestinationTerms
  expected?: readonly number[] | undefined
}
type Alongside = (statements: OwnStatements, change: { before?: Domain; after?: Domain }) => Promise<void>

/** Hosts that organizations use for their short links only, after proving that they own them. */
export interface Domains {
  list(organizationId: number): Promise<Domain[]>
  /** Throws `domain_not_found`. */
  get(organizationId: number, id: string | undefined): Promise<Domain>
  create(site: Site, actor: Actor, body: unknown, destinations: DestinationTerms, alongside: Alongside): Promise<Domain>
  update(site: Site, id: string | undefined, actor: Actor, body: unknown, terms: DomainTerms): Promise<Domain>
  /** Throws `domain_in_use` if links use the domain. */
  remove(site: Site, id: string | undefined, actor: Actor, expected?: readonly number[]): Promise<void>
  /** Looks for the TXT record, then for the file on the host. Throws `domain_not_verified`, `outbound_disabled`. */
  verify(site: Site, id: string | undefined, actor: Actor): Promise<Domain>
}

const TOKEN_BYTES = 20
const FILE = "/.well-known/footfall-verify"
export const proofOf = ({ token }: Pick<Domain, "token">): string => `footfall-verify=${token}`

export function createDomains(host: LinksHost, cache: Cache): Domains {
  const { db, audit, now } = host
  async function find(statements: OwnStatements, organizationId: number, named: string | undefined): Promise<Domain> {
    const domain = await domainById(statements, organizationId, parseId(named) ?? 0)
    if (!domain) throw new AppError("domain_not_found", "This link domain doesn't exist.")
    return domain
  }
  const write = (statements: OwnStatements, site: Site, actor: Actor, change: { verb: string; before?: Domain; after?: Domain }) =>
    audit.write(statements, actor, domainEntry({ site, ...change }))

  return {
    list: (organizationId) => listDomains(db, organizationId),
    get: (organizationId, id) => find(db, organizationId, id),
    create(site, actor, body, destinations, alongside) {
      const { name, addresses } = readDomain(body, destinations)
      if (host.isOwnHost(name)) throw linkError("domain_in_use", "This host serves the dashboard. Choose another host.")
      return db.transaction(async (statements) => {
        if (await domainByHost(statements, name)) throw linkError("domain_in_use", "This host is already a link domain.")
        if ((await listDomains(statements, site.organization_id)).length >= LIMITS.domains) throw tooMany()
        const token = host.random(TOKEN_BYTES).toHex()
        const wanted = { organization_id: site.organization_id, host: name, token, ...addresses, created_at: now() }
        const domain = await insertDomain(statements, wanted)
        await write(statements, site, actor, { verb: "create", after: domain })
        await alongside(statements, { after: domain })
        return domain
      }, cache.putDomain)
    },
    update(site, id, actor, body, { destinations, expected }) {
      const { version, patch } = versionOf(body)
      const addresses = addressesIn(patch, destinations)
      return db.transaction(async (statements) => {
        const before = await find(statements, site.organization_id, id)
        refuseStaleBody(before, version, (domain) => formatDomain(domain, true))
        refuseOtherVersion(before, expected)
        const wanted = { ...before, ...addresses }
        if (Bun.deepEquals(wanted, before)) return before
        const after = await updateDomain(statements, wanted, now())
        await write(statements, site, actor, { verb: "update", before, after })
        return after
      }, cache.putDomain)
    },
    async remove(site, id, actor, expected) {
      await db.transaction(
        async (statements) => {
          const before = await find(statements, site.organization_id, id)
          refuseOtherVersion(before, expected)
          if ((await countLinksOnDomain(statements, before.id)) > 0)
            throw linkError("domain_in_use", "This domain still has links. Delete or move them first.")
          await deleteDomain(statements, before.id)
          await write(statements, site, actor, { verb: "delete", before })
          return before.id
        },
        (id) => cache.removeDomain(id),
      )
    },
    async verify(site, id, actor) {
      const named = await find(db, site.organization_id, id)
      if (named.verified_at !== null) return named
      if (!(await isProved(host, named)))
        throw new AppError("domain_not_verified", "Neither the TXT record nor the file was found. DNS changes can take an hour.")
      return db.transaction(async (statements) => {
        const before = await find(statements, site.organization_id, id)
        const after = await updateDomain(statements, { ...before, verified_at: now() }, now())
        await write(statements, site, actor, { verb: "verify", before, after })
        return after
      }, cache.putDomain)
    },
  }
}

/** Returns whether the TXT record or the file proves that the organization owns the host. */
async function isProved(host: LinksHost, domain: Domain): Promise<boolean> {
  if (!host.outbound.enabled) throw new AppError("outbound_disabled", "Outgoing requests are turned off on this instance.")
  const records = await host.txtRecords(domain.host).catch((): readonly string[] => [])
  if (records.includes(proofOf(domain))) return true
  for (const scheme of ["https", "http"]) {
    const answer = await host.fetch(`${scheme}://${domain.host}${FILE}`, { follows: false }).catch(() => undefined)
    if (answer?.status === 200 && new TextDecoder().decode(answer.body).trim() === proofOf(domain)) return true
  }
  return false
}

function readDomain(body: unknown, terms: DestinationTerms) {
  const { fields, faults } = inspect(DomainInput, body)
  const name = fields.host === undefined ? undefined : parseHost(fields.host)
  // An IP address cannot have a TXT record.
  if (fields.host !== undefined && (name === undefined || name.startsWith("*.") || name === "localhost" || isAddress(name)))
    faults.push(fault("/host", "invalid_host", "must be a host name such as go.example.com, not an IP address"))
  refuseFaults(faults)
  return { name: name!, addresses: { root_destination: null, not_found_destination: null, ...accepted(body, terms) } } // rejected above if missing
}

function addressesIn(body: unknown, terms: DestinationTerms) {
  refuseFaults(inspect(DomainPatch, isObject(body) ? withoutReadOnly(body) : body).faults)
  return accepted(body, terms)
}

/** Ignores fields that the server sets, so that the body of a GET can be sent back. */
const withoutReadOnly = ({ host: _, txt_record: __, file: ___, verified_at: ____, ...sent }: Record<string, unknown>) => sent

type Addresses = Partial<Pick<Domain, "root_destination" | "not_found_destination">>
function accepted(body: unknown, terms: DestinationTerms): Addresses {
  const sent = body as Static<typeof DomainPatch> // inspected by the caller
  const names = ["root_destination", "not_found_destination"] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const given = sent[name]
      return given === undefined ? [] : [[name, given === null ? null : acceptDestination(given, terms, `/${name}`)]]
    }),
  )
}

/** Returns a domain as a response. Its proof is included only for users who may verify it. */
const formatDomain = (domain: Domain, mayVerify: boolean): DomainResponse => ({
  id: domain.id,
  host: domain.host,
  verified_at: instantOrNull(domain.verified_at),
  txt_record: mayVerify ? proofOf(domain) : null,
  file: mayVerify ? { path: FILE, content: proofOf(domain) } : null,
  root_destination: domain.root_destination,
  not_found_destination: domain.not_found_destination,
  version: domain.version,
})

const tooMany = () =>
  new AppError("limit_reached", `An organization can have at most ${LIMITS.domains} link domains.`, {
    limit: LIMITS.domains,
    resource: "link_domains",
  })

const operation = operationsOf("link-domains")
const DESTINATION_ERRORS = ["invalid_destination", "destination_not_allowed"]
const DomainPatchBody = t.Partial(t.Object({ ...DomainPatch.properties, version: field.id("Version that the change is based on.") }))

/** Routes for link domains. */
export function domainRoutes({ host, domains, links }: Area) {
  const find = finding((site, id) => domains.get(site.organization_id, id))
  const mayVerify = ({ permissions }: { permissions: ReadonlySet<string> }) => permissions.has("org:write")
  const tagged = ({ headers }: { headers: Record<string, unknown> }, domain: Domain, isVerifier: boolean) => {
    headers.etag = etagOf(domain)
    return formatDomain(domain, isVerifier)
  }
  return host
    .siteRouter()
    .get(
      "/link-domains",
      async ({ site, permissions }) => ({
        data: (await domains.list(site.organization_id)).map((domain) => formatDomain(domain, mayVerify({ permissions }))),
      }),
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: t.Object({ data: t.Array(DomainResponse, { description: "Link domains of the organization." }) }) },
        detail: operation("List link domains"),
      },
    )
    .post(
      "/link-domains",
      ({ site, actor, user, permissions, ...call }) =>
        host.create<Domain, DomainResponse>(
          { ...call, user },
          (body, alongside) => domains.create(site, actor, body, links.destinationTerms({ permissions }), alongside),
          (domain) => ({
            location: `/api/private/sites/${site.id}/link-domains/${domain.id}`,
            etag: etagOf(domain),
            body: formatDomain(domain, true),
          }),
        ),
      {
        can: "org:write",
        query: NoQuery,
        body: Sent,
        response: { 201: DomainResponse },
        detail: { ...operation("Add a link domain", DomainInput), ...failures("domain_in_use", "limit_reached", ...DESTINATION_ERRORS) },
      },
    )
    .get(
      "/link-domains/:id",
      async ({ site, params, permissions, set }) =>
        tagged(set, await domains.get(site.organization_id, params.id), mayVerify({ permissions })),
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: DomainResponse },
        detail: { ...operation("Get a link domain"), ...failures("domain_not_found") },
      },
    )
    .patch(
      "/link-domains/:id",
      async ({ site, params, actor, permissions, body, request, set }) => {
        const terms = { expected: versionsIn(request.headers.get("if-match")), destinations: links.destinationTerms({ permissions }) }
        return tagged(set, await domains.update(site, params.id, actor, body.value, terms), true)
      },
      {
        can: { permission: "org:write", find },
        query: NoQuery,
        body: Sent,
        response: { 200: DomainResponse },
        detail: {
          ...operation("Update the destinations of a link domain", DomainPatchBody),
          ...failures("domain_not_found", "precondition_failed", ...DESTINATION_ERRORS),
        },
      },
    )
    .delete(
      "/link-domains/:id",
      async ({ site, params, actor, request, status }) => {
        await domains.remove(site, params.id, actor, versionsIn(request.headers.get("if-match")))
        return status(204, undefined)
      },
      {
        can: { permission: "org:write", find, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Remove a link domain"), ...failures("domain_not_found", "domain_in_use", "precondition_failed") },
      },
    )
    .post(
      "/link-domains/:id/verify",
      async ({ site, params, actor, set }) => tagged(set, await domains.verify(site, params.id, actor), true),
      {
        can: { permission: "org:write", find, read: readNothing },
        query: NoQuery,
        response: { 200: DomainResponse },
        detail: { ...operation("Verify a link domain"), ...failures("domain_not_found", "domain_not_verified", "outbound_disabled") },
      },
    )
}
