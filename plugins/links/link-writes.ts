import {
  type Actor,
  AppError,
  type Counters,
  fault,
  isObject,
  type OwnStatements,
  refuseFaults,
  refuseOtherVersion,
  refuseSlug,
  refuseStaleBody,
  type Site,
  type SlugClaim,
  slugKey,
  type Trash,
} from "#plugin"
import { withoutEmpty } from "./address.ts"
import { linkEntry } from "./audit-entries.ts"
import type { DestinationTerms } from "./destination.ts"
import { linkError } from "./errors.ts"
import { type LinkTerms, type ReadLink, readLink, refuseReversed, utmRequired, versionOf } from "./input.ts"
import { LIMITS, type Link, type LinkFields, type LinksHost, USUAL, type Utm } from "./link.ts"
import type { LinkResponse } from "./responses.ts"
import { insertLink, linkSlugs, type Password, templateById, updateLink } from "./rows.ts"
import type { Cache } from "./serving/cache.ts"
import type { Chains } from "./serving/chain.ts"

/** User who changes links, with the site and the permissions there. */
export interface Author {
  site: Site
  actor: Actor
  userId: number
  permissions: ReadonlySet<string>
}

/** Stores something else in the transaction of a change. */
export type Alongside = (statements: OwnStatements, change: { before?: Link; after?: Link }) => Promise<void>

interface ChangeTerms {
  /** Versions in the header `If-Match`. */
  expected?: readonly number[] | undefined
  show(link: Link): LinkResponse
}

/**
 * A prepared change of one link: its body is parsed and its password is hashed. Writes the link in a transaction and returns it for the
 * cache. If it throws an `AppError`, it has written nothing. `written` contains the links that the same transaction has written before,
 * in order.
 */
export type LinkChange = (statements: OwnStatements, written: readonly Link[]) => Promise<Link>

/** Changes to links. A link of another site is not found. Each change takes effect with the next request to the short URL. */
export interface Links {
  create(author: Author, body: unknown, alongside?: Alongside): Promise<Link>
  /** Throws what `create` would throw if the site had `more` additional links. Writes nothing. */
  check(author: Author, body: unknown, more: number): Promise<void>
  /** Throws `link_not_found`. */
  get(site: Site, id: string | number | undefined): Promise<Link>
  update(author: Author, id: string | number | undefined, body: unknown, terms: ChangeTerms): Promise<Link>
  remove(author: Author, id: string | number | undefined, expected?: readonly number[]): Promise<void>
  /** Restores a link that was deleted within the last 30 days. */
  restore(author: Author, id: string | undefined): Promise<Link>
  deleted(site: Site, id: string | undefined): Promise<Link>
  /** The same changes for a batch, which writes several of them in one transaction. */
  readonly changes: {
    create(author: Author, body: unknown, alongside?: Alongside): Promise<LinkChange>
    update(author: Author, id: string | number | undefined, body: unknown, terms: ChangeTerms): Promise<LinkChange>
    remove(author: Author, id: string | number | undefined, expected?: readonly number[]): LinkChange
  }
  /** Counts the pending clicks of a site. Call it before links are deleted. */
  countClicks(site: Site): Promise<void>
  /** Returns why a slug cannot be taken, or undefined. */
  slugFault(organizationId: number, domainId: number | null, slug: string): Promise<"slug_taken" | "slug_recently_used" | undefined>
  suggest(domainId: number | null, slug: string): Promise<string[]>
  /** Returns the rules for destinations that apply to a user. */
  destinationTerms(author: Pick<Author, "permissions">): DestinationTerms
}

interface LinksOptions {
  cache: Cache
  chains: Chains
  counters: Counters
  trash: Trash<Link>
}

export function createLinks(host: LinksHost, { cache, chains, counters, trash }: LinksOptions): Links {
  const { db, now } = host
  const destinationTerms: Links["destinationTerms"] = ({ permissions }) => ({
    schemes: host.settings.schemes,
    maySetSchemes: permissions.has("site:write"),
    allowedHosts: host.settings.allowed_hosts,
    deniedHosts: host.settings.denied_hosts,
  })
  const linkTerms = (author: Author): LinkTerms => ({ destinations: destinationTerms(author), timezone: author.site.timezone })
  const slugs = linkSlugs(host)
  const { find } = trash

  function refuseDomain({ organization_id }: Site, domainId: number | null): void {
    if (domainId === null) return
    const domain = cache.domainById(domainId)
    if (domain?.organization_id !== organization_id) throw new AppError("domain_not_found", "This link domain doesn't exist.")
    if (domain.verified_at === null)
      throw new AppError("domain_not_verified", "This link domain is not verified yet. Verify it before you create links on it.")
  }
  async function utmOf(statements: OwnStatements, site: Site, { fields, utmTemplateId }: ReadLink, before: Utm): Promise<Utm> {
    const own = fields.utm ?? before
    if (utmTemplateId === undefined) return own
    const template = await templateById(statements, site, utmTemplateId)
    if (!template) throw linkError("template_not_found", "This campaign template doesn't exist.")
    const merged = withoutEmpty({ ...template.fields, ...own })
    const missing = template.required.filter((key) => !merged[key])
    if (missing.length > 0) throw utmRequired(missing)
    return merged
  }

  const write = (statements: OwnStatements, { site, actor }: Author, verb: string, { before, after }: { before?: Link; after?: Link }) =>
    host.audit.write(statements, actor, linkEntry({ verb, site, before, after }))

  /** Reads and checks the body of a new link, as far as that is possible without other links. */
  async function readNew(author: Author, body: unknown) {
    const read = readLink(body, linkTerms(author), false)
    const domainId = read.fields.domain_id ?? null
    refuseDomain(author.site, domainId)
    const slug = read.fields.slug ?? (await slugs.free(db, GENERATED_CHARS, domainId))
    refuseSlug(slug)
    return { read, place: { scope: domainId, slug, organizationId: author.site.organization_id, force: read.force } }
  }
  /** Returns the fields of a new link. Throws if its slug is taken, the site is full or it would create a redirect loop. */
  async function fieldsOf(
    statements: OwnStatements,
    site: Site,
    { read, place }: Awaited<ReturnType<typeof readNew>>,
    { more = 0, written = [] }: { more?: number; written?: readonly Link[] } = {},
  ): Promise<{ fields: LinkFields; claim: SlugClaim }> {
    const utm = await utmOf(statements, site, read, {})
    const fields = { ...USUAL, ...read.fields, slug: place.slug, utm } as LinkFields // a body without a destination was rejected
    refuseReversed(fields)
    const claim = await slugs.refuse(statements, place)
    if (cache.count(site.id) + more >= LIMITS.links) throw tooMany()
    chains.refuseLoop({ ...fields, id: 0 }, written)
    return { fields, claim }
  }

  const changes: Links["changes"] = {
    async create(author, body, alongside) {
      const { site } = author
      const wanted = await readNew(author, body)
      // Hashing is slow, so everything else is checked before. The transaction checks again.
      if (typeof wanted.read.password === "string") await fieldsOf(db, site, wanted)
      const password = await passwordFor(host, wanted.read.password, { hash: null, version: 0 })
      return async (statements, written) => {
        const { fields, claim } = await fieldsOf(statements, site, wanted, { more: written.length, written })
        await slugs.take(statements, claim)
        const link = await insertLink(statements, fields, { siteId: site.id, password, createdBy: author.userId, now: now() })
        await write(statements, author, "create", { after: link })
        if (host.settings.fetch_titles && link.title === "")
          await host.jobs.enqueue("fetch-title", { payload: { siteId: site.id, linkId: link.id } }, statements)
        await alongside?.(statements, { after: link })
        return link
      }
    },
    async update(author, id, body, { expected, show }) {
      const { site } = author
      const { patch, version, archived } = patchOf(body)
      const read = readLink(patch, linkTerms(author), true)
      /** Applies the patch to a link. Returns its fields and, if the link moves, the claim to its new slug. Throws if they are not allowed. */
      async function changed(statements: OwnStatements, before: Link) {
        refuseStaleBody(before, version, show)
        refuseOtherVersion(before, expected)
        const utm = await utmOf(statements, site, read, before.utm)
        const archiving = archived === undefined ? {} : { archived_at: archived ? (before.archived_at ?? now()) : null }
        const fields = { ...before, ...read.fields, utm, ...archiving }
        refuseReversed(fields)
        if (fields.slug === before.slug && fields.domain_id === before.domain_id) return { fields, move: undefined }
        refuseSlug(fields.slug)
        refuseDomain(site, fields.domain_id)
        const place = { ...placeOf(fields), id: before.id, organizationId: site.organization_id, force: read.force }
        return { fields, move: await slugs.refuse(statements, place) }
      }
      // Hashing is slow, so it happens outside the transaction and after everything else was checked. The transaction checks again.
      if (typeof read.password === "string") chains.refuseLoop((await changed(db, await find(db, site, id))).fields)
      const password = await newPassword(site, id, read.password)
      return async (statements, written) => {
        const before = await find(statements, site, id)
        const { fields, move } = await changed(statements, before)
        const current = password ?? passwordIn(before)
        if (Bun.deepEquals(fields, before) && current.hash === before.password_hash) return before
        chains.refuseLoop(fields, written)
        if (move) await slugs.take(statements, move)
        const after = await updateLink(statements, fields, { password: current, now: now() })
        if (move && !isSamePlace(before, after)) await slugs.release(statements, before, site.organization_id)
        await write(statements, author, "update", { before, after })
        return after
      }
    },
    remove: (author, id, expected) => async (statements) => {
      const { site } = author
      const before = await find(statements, site, id)
      refuseOtherVersion(before, expected)
      const after = await updateLink(statements, { ...before, deleted_at: now() }, { password: passwordIn(before), now: now() })
      await slugs.release(statements, before, site.organization_id)
      await write(statements, author, "delete", { before })
      return after
    },
  }

  /** Returns undefined if the password stays the same. */
  async function newPassword(site: Site, id: string | number | undefined, given: string | null | undefined): Promise<Password | undefined> {
    return given === undefined ? undefined : passwordFor(host, given, passwordIn(await find(db, site, id)))
  }
  const countClicks = ({ id }: Site): Promise<void> =>
    counters.site(id).catch((error) => host.log.warn("clicks could not be counted before a link was deleted", { error }))
  const apply = (change: LinkChange): Promise<Link> => db.transaction((statements) => change(statements, []), cache.put)

  return {
    destinationTerms,
    suggest: (domainId, slug) => slugs.suggest(db, slug, domainId),
    slugFault: (organizationId, domainId, slug) => slugs.fault(db, { scope: domainId, slug, organizationId, force: false }),
    changes,
    async create(author, body, alongside) {
      await cache.ready()
      return apply(await changes.create(author, body, alongside))
    },
    async check(author, body, more) {
      await cache.ready()
      await fieldsOf(db, author.site, await readNew(author, body), { more })
    },
    get: (site, id) => find(db, site, id),
    async update(author, id, body, terms) {
      await cache.ready()
      return apply(await changes.update(author, id, body, terms))
    },
    countClicks,
    async remove(author, id, expected) {
      await cache.ready()
      await countClicks(author.site)
      await apply(changes.remove(author, id, expected))
    },
    deleted: (site, id) => trash.findDeleted(db, site, id),
    async restore(author, id) {
      await cache.ready()
      const { site } = author
      return db.transaction(async (statements) => {
        const before = await trash.findDeleted(statements, site, id)
        const place = { ...placeOf(before), id: before.id, organizationId: site.organization_id, force: true }
        const claim = await slugs.refuse(statements, place)
        refuseDomain(site, before.domain_id)
        if (cache.count(site.id) >= LIMITS.links) throw tooMany()
        chains.refuseLoop(before)
        await slugs.take(statements, claim)
        const after = await updateLink(statements, { ...before, deleted_at: null }, { password: passwordIn(before), now: now() })
        await write(statements, author, "restore", { after })
        return after
      }, cache.put)
    },
  }
}

/** Length of generated slugs. */
const GENERATED_CHARS = 7

const placeOf = ({ domain_id, slug }: Pick<Link, "domain_id" | "slug">) => ({ scope: domain_id, slug })
const isSamePlace = (a: Link, b: Link): boolean => a.domain_id === b.domain_id && slugKey(a.slug) === slugKey(b.slug)
const passwordIn = ({ password_hash, password_version }: Link): Password => ({ hash: password_hash, version: password_version })

/** Returns the password of a link after a change. A new version invalidates the cookies of visitors who unlocked the link. */
async function passwordFor({ passwords }: LinksHost, given: string | null | undefined, before: Password): Promise<Password> {
  if (given === undefined || (given === null && before.hash === null)) return before
  return { hash: given === null ? null : await passwords.hash(given), version: before.version + 1 }
}

/** Separates the version and the archived flag of a patch from its fields. */
function patchOf(body: unknown): { patch: unknown; version: number | undefined; archived: boolean | undefined } {
  if (!isObject(body)) return { patch: body, version: undefined, archived: undefined }
  const { archived, ...others } = body
  const { version, patch } = versionOf(others)
  if (archived !== undefined && typeof archived !== "boolean") refuseFaults([fault("/archived", "invalid_type", "must be true or false")])
  return { patch, version, archived: archived as boolean | undefined } // checked just now
}

const tooMany = () =>
  new AppError("limit_reached", `A site can have at most ${LIMITS.links} links.`, { limit: LIMITS.links, resource: "links" })
