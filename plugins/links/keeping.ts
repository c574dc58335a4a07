import {
  type Actor,
  AppError,
  fault,
  isObject,
  type OwnStatements,
  parseId,
  refuseFaults,
  refuseOtherVersion,
  refuseSlug,
  refuseStaleBody,
  type Site,
  slugKey,
} from "#plugin"
import { withoutEmpty } from "./address.ts"
import type { Cache } from "./cache.ts"
import type { Chains } from "./chain.ts"
import type { DestinationTerms } from "./destination.ts"
import type { Fold } from "./fold.ts"
import { type LinkTerms, type ReadLink, readLink, refuseReversed, utmRequired } from "./input.ts"
import { LIMITS, type Link, type LinkFields, type LinksHost, USUAL, type Utm } from "./link.ts"
import { deedOf } from "./link-deed.ts"
import { countLinks, insertLink, linkById, type Password, updateLink } from "./rows.ts"
import type { LinkShown } from "./shown.ts"
import { createSlugClaims } from "./slug-claims.ts"
import { templateById } from "./template-rows.ts"

/** Who changes links, and where. */
export interface Author {
  site: Site
  actor: Actor
  userId: number
  permissions: ReadonlySet<string>
}

/** What is stored with a change, in its transaction. */
export type Beside = (statements: OwnStatements, change: { before?: Link; after?: Link }) => Promise<void>

interface ChangeTerms {
  /** Versions that `If-Match` names. */
  expected?: readonly number[] | undefined
  show(link: Link): LinkShown
}

/** What people do to links. A link of another site is not found. Every change is in the next answer to its short address. */
export interface Links {
  create(author: Author, body: unknown, beside?: Beside): Promise<Link>
  /** Throws what `create` would refuse, with so many more links on the site, and writes nothing. */
  judge(author: Author, body: unknown, more: number): Promise<void>
  /** Throws `link_not_found`. */
  get(site: Site, id: string | number | undefined): Promise<Link>
  update(author: Author, id: string | number | undefined, body: unknown, terms: ChangeTerms): Promise<Link>
  remove(author: Author, id: string | number | undefined, expected?: readonly number[]): Promise<void>
  /** One that was deleted within the last 30 days. */
  restore(author: Author, id: string | undefined): Promise<Link>
  deleted(site: Site, id: string | undefined): Promise<Link>
  /** Why a slug cannot be taken; undefined when it can. */
  slugFault(organizationId: number, domainId: number | null, slug: string): Promise<"slug_taken" | "slug_recently_used" | undefined>
  suggest(domainId: number | null, slug: string): string[]
  termsOf(author: Pick<Author, "permissions">): DestinationTerms
}

const linkNotFound = () => new AppError("link_not_found", "There is no link with this id on the site.")

interface LinksOptions {
  cache: Cache
  chains: Chains
  fold: Fold
}

export function createLinks(host: LinksHost, { cache, chains, fold }: LinksOptions): Links {
  const { db, now } = host
  const termsOf: Links["termsOf"] = ({ permissions }) => ({
    schemes: host.settings.schemes,
    maySetSchemes: permissions.has("site:write"),
    allowedHosts: host.settings.allowed_hosts,
    deniedHosts: host.settings.denied_hosts,
  })
  const readingOf = (author: Author): LinkTerms => ({ destinations: termsOf(author), timezone: author.site.timezone })
  const claims = createSlugClaims(host, cache)

  async function find(statements: OwnStatements, site: Site, named: string | number | undefined): Promise<Link> {
    const id = parseId(named)
    const link = id === undefined ? undefined : await linkById(statements, site.id, id)
    if (!link || link.deleted_at !== null) throw linkNotFound()
    return link
  }
  async function deletedOne(statements: OwnStatements, site: Site, named: string | undefined): Promise<Link> {
    const link = await linkById(statements, site.id, parseId(named) ?? 0)
    if (!link || link.deleted_at === null || link.deleted_at <= now() - LIMITS.restoreMs) throw linkNotFound()
    return link
  }

  function refuseDomain({ organization_id }: Site, domainId: number | null): void {
    if (domainId === null) return
    const domain = cache.domainById(domainId)
    if (domain?.organization_id !== organization_id) throw new AppError("domain_not_found", "There is no link domain with this id.")
    if (domain.verified_at === null) throw new AppError("domain_not_verified", "The domain is not proved yet.")
  }
  async function utmOf(statements: OwnStatements, site: Site, { fields, utmTemplateId }: ReadLink, before: Utm): Promise<Utm> {
    const own = fields.utm ?? before
    if (utmTemplateId === undefined) return own
    const template = await templateById(statements, site, utmTemplateId)
    if (!template) throw new AppError("template_not_found", "There is no template with this id.")
    const merged = withoutEmpty({ ...template.fields, ...own })
    const missing = template.required.filter((key) => !merged[key])
    if (missing.length > 0) throw utmRequired(missing)
    return merged
  }

  const write = (statements: OwnStatements, { site, actor }: Author, verb: string, { before, after }: { before?: Link; after?: Link }) =>
    host.audit.write(statements, actor, deedOf(verb, site, before, after))

  /** What a body asks for, as far as it can be judged without looking at other links. */
  function wishOf(author: Author, body: unknown) {
    const read = readLink(body, readingOf(author), false)
    const domainId = read.fields.domain_id ?? null
    refuseDomain(author.site, domainId)
    const slug = read.fields.slug ?? claims.free(domainId)
    refuseSlug(slug)
    return { read, place: { domainId, slug, organizationId: author.site.organization_id, force: read.force } }
  }
  /** The fields of a new link. Throws when it does not fit in among the others; `more` of them are only thought of. */
  async function fitting(statements: OwnStatements, site: Site, { read, place }: ReturnType<typeof wishOf>, more = 0): Promise<LinkFields> {
    const utm = await utmOf(statements, site, read, {})
    const fields = { ...USUAL, ...read.fields, slug: place.slug, utm } as LinkFields // a body without a destination was refused
    refuseReversed(fields)
    await claims.refuseTaken(statements, place)
    if ((await countLinks(statements, site.id)) + more >= LIMITS.links) throw tooMany()
    chains.refuseLoop({ ...fields, id: 0 })
    return fields
  }

  return {
    termsOf,
    suggest: claims.suggest,
    slugFault: (organizationId, domainId, slug) => claims.fault(db, { domainId, slug, organizationId, force: false }),
    async create(author, body, beside) {
      await cache.ready()
      const { site } = author
      const wish = wishOf(author, body)
      const password = await passwordFor(host, wish.read.password, { hash: null, version: 0 })
      return db.transaction(async (statements) => {
        const fields = await fitting(statements, site, wish)
        await claims.take(statements, wish.place)
        const link = await insertLink(statements, fields, { siteId: site.id, password, createdBy: author.userId, now: now() })
        await write(statements, author, "create", { after: link })
        if (host.settings.fetch_titles && link.title === "")
          await host.jobs.enqueue("fetch-title", { payload: { siteId: site.id, linkId: link.id } }, statements)
        await beside?.(statements, { after: link })
        return link
      }, cache.put)
    },
    async judge(author, body, more) {
      await cache.ready()
      await fitting(db, author.site, wishOf(author, body), more)
    },
    get: (site, id) => find(db, site, id),
    async update(author, id, body, { expected, show }) {
      await cache.ready()
      const { site } = author
      const { patch, version, archived } = patchOf(body)
      const read = readLink(patch, readingOf(author), true)
      // Hashing takes its time: before the transaction, which looks again at what there is.
      const seen = await find(db, site, id)
      const password = await passwordFor(host, read.password, { hash: seen.password_hash, version: seen.password_version })
      return db.transaction(async (statements) => {
        const before = await find(statements, site, id)
        refuseStaleBody(before, version, show)
        refuseOtherVersion(before, expected)
        const utm = await utmOf(statements, site, read, before.utm)
        const fields = {
          ...before,
          ...read.fields,
          utm,
          ...(archived !== undefined && { archived_at: archived ? (before.archived_at ?? now()) : null }),
        }
        refuseReversed(fields)
        const isMoved = fields.slug !== before.slug || fields.domain_id !== before.domain_id
        const own = read.password === undefined ? { hash: before.password_hash, version: before.password_version } : password
        if (Bun.deepEquals(fields, before) && own.hash === before.password_hash) return before
        if (isMoved) {
          refuseSlug(fields.slug)
          refuseDomain(site, fields.domain_id)
          await claims.take(statements, { ...placeOf(fields), id: before.id, organizationId: site.organization_id, force: read.force })
        }
        chains.refuseLoop(fields)
        const after = await updateLink(statements, before.id, fields, { password: own, now: now() })
        if (isMoved && !isSamePlace(before, after)) await claims.giveUp(statements, before, site)
        await write(statements, author, "update", { before, after })
        return after
      }, cache.put)
    },
    async remove(author, id, expected) {
      await cache.ready()
      const { site } = author
      // What waits to be counted is the link's own as long as it is there.
      await fold.site(site.id).catch((error) => host.log.warn("clicks of a deleted link were not added up", { error }))
      await db.transaction(async (statements) => {
        const before = await find(statements, site, id)
        refuseOtherVersion(before, expected)
        const gone = { ...before, deleted_at: now() }
        const after = await updateLink(statements, before.id, gone, { password: passwordIn(before), now: now() })
        await claims.giveUp(statements, before, site)
        await write(statements, author, "delete", { before })
        return after
      }, cache.put)
    },
    deleted: (site, id) => deletedOne(db, site, id),
    async restore(author, id) {
      await cache.ready()
      const { site } = author
      return db.transaction(async (statements) => {
        const before = await deletedOne(statements, site, id)
        await claims.take(statements, { ...placeOf(before), id: before.id, organizationId: site.organization_id, force: true })
        refuseDomain(site, before.domain_id)
        if ((await countLinks(statements, site.id)) >= LIMITS.links) throw tooMany()
        chains.refuseLoop(before)
        const after = await updateLink(statements, before.id, { ...before, deleted_at: null }, { password: passwordIn(before), now: now() })
        await write(statements, author, "restore", { after })
        return after
      }, cache.put)
    },
  }
}

const placeOf = ({ domain_id, slug }: Pick<Link, "domain_id" | "slug">) => ({ domainId: domain_id, slug })
const isSamePlace = (a: Link, b: Link): boolean => a.domain_id === b.domain_id && slugKey(a.slug) === slugKey(b.slug)
const passwordIn = ({ password_hash, password_version }: Link): Password => ({ hash: password_hash, version: password_version })

/** Another password ends what the one before has unlocked. */
async function passwordFor({ passwords }: LinksHost, given: string | null | undefined, before: Password): Promise<Password> {
  if (given === undefined || (given === null && before.hash === null)) return before
  return { hash: given === null ? null : await passwords.hash(given), version: before.version + 1 }
}

/** The version, and whether it is to be archived, stand beside the fields. */
function patchOf(body: unknown): { patch: unknown; version: number | undefined; archived: boolean | undefined } {
  if (!isObject(body)) return { patch: body, version: undefined, archived: undefined }
  const { version, archived, ...patch } = body
  if (version !== undefined && !Number.isSafeInteger(version)) refuseFaults([fault("/version", "invalid_type", "must be a whole number")])
  if (archived !== undefined && typeof archived !== "boolean") refuseFaults([fault("/archived", "invalid_type", "must be true or false")])
  return { patch, version: version as number | undefined, archived: archived as boolean | undefined } // just looked at
}

const tooMany = () => new AppError("limit_reached", `A site may have ${LIMITS.links} links`, { limit: LIMITS.links, resource: "links" })
