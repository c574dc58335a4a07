import { AppError } from "../../domain/error.ts"
import type { Random } from "../../services/secrets/secrets.ts"
import { newSlug, SLUG_RESERVED_MS, SUGGESTED_CHARS, slugKey, slugSuggestions } from "../../services/sharing/slugs.ts"
import { raw, sql } from "../../store/sql.ts"
import type { OwnStatements } from "./own-tables.ts"

/** Tables of things that have slugs. `slug_key` holds `slugKey(slug)` in both of them. */
export interface SlugTables {
  /** Noun for error messages and prefix of the column that names the former holder: `link`, `link_id`. */
  thing: string
  /** Table of the things, with `id`, `slug_key` and `deleted_at`. */
  table: string
  /** Table of reserved slugs, with `slug_key`, `organization_id`, `<thing>_id`, `freed_at` and `until`. */
  reserved: string
  /** Nullable column of both tables within whose values slugs are unique, such as `domain_id`. Default: unique everywhere. */
  scope?: string
}

/** A slug that a thing is to get. */
export interface SlugRequest {
  slug: string
  /** Value of the scope column. */
  scope?: number | null
  /** Id of the thing, unless it is new. A thing can always take back a slug of its own. */
  id?: number
  organizationId: number
  /** Takes a slug that is reserved for the same organization. */
  force: boolean
}

/** A thing that holds a slug, as its table has it. */
export interface SlugHolder {
  id: number
  slug: string
}

/** A slug that `refuse` found to be free, for `take`. */
export interface SlugClaim extends SlugRequest {
  /** A reservation of the slug has to be removed. */
  isReserved: boolean
}

/**
 * The slugs of one kind of thing. Slugs that differ by case alone are equal. The slug of a deleted thing is reserved for 90 days,
 * because its address is printed and sent: only the thing itself, or its organization with `force`, can take it before.
 */
export interface OwnSlugs {
  /** Returns why a slug cannot be taken, or undefined. */
  fault(statements: OwnStatements, request: SlugRequest): Promise<"slug_taken" | "slug_recently_used" | undefined>
  /** Throws `slug_taken` with suggestions, or `slug_recently_used`. Writes nothing. */
  refuse(statements: OwnStatements, request: SlugRequest): Promise<SlugClaim>
  /** Removes the reservation of a claimed slug, in the transaction that stores the thing. */
  take(statements: OwnStatements, claim: SlugClaim): Promise<void>
  /** Reserves the slug of a thing that gives it up. */
  release(statements: OwnStatements, holder: SlugHolder, organizationId: number): Promise<void>
  /** Returns a random slug of this length that is neither taken nor reserved. */
  free(statements: OwnStatements, length: number, scope?: number | null): Promise<string>
  /** Returns three free slugs that resemble the wanted one, which need not be a valid slug. */
  suggest(statements: OwnStatements, wanted: string, scope?: number | null): Promise<string[]>
  /** Deletes reservations that have ended, at most `limit`, and returns their number. */
  removeExpired(limit: number): Promise<number>
}

interface SlugState {
  holder_id: number | null
  /** The next three are null if the slug is not reserved. */
  former_id: number | null
  organization_id: number | null
  until: number | null
}

interface SlugsOptions {
  db: OwnStatements
  now(): number
  random: Random
}

export const ownSlugs =
  ({ db, now, random }: SlugsOptions) =>
  (tables: SlugTables): OwnSlugs => {
    const [things, reserved, formerId] = [raw(tables.table), raw(tables.reserved), raw(`${tables.thing}_id`)]
    const scopeColumn = tables.scope === undefined ? undefined : raw(tables.scope)
    const inScope = (scope: number | null) => (scopeColumn ? sql`ifnull(${scopeColumn}, 0) = ${scope ?? 0} and` : raw(""))
    const placeOf = (slug: string, scope: number | null) => sql`${inScope(scope)} slug_key = ${slugKey(slug)}`

    // One statement for both tables: batches ask it thousands of times.
    async function stateOf(statements: OwnStatements, slug: string, scope: number | null = null): Promise<SlugState> {
      const place = placeOf(slug, scope)
      const state = await statements.get<SlugState>(sql`
        select (select id from ${things} where ${place} and deleted_at is null) as holder_id, former_id, organization_id, until
        from (select 1) left join (select ${formerId} as former_id, organization_id, until from ${reserved} where ${place})`)
      return state! // a left join from one row returns a row
    }
    function faultIn({ holder_id, former_id, organization_id, until }: SlugState, { id, organizationId, force }: SlugRequest) {
      if (holder_id !== null && holder_id !== id) return "slug_taken"
      if (until === null || until <= now() || (id !== undefined && former_id === id)) return undefined
      return force && organization_id === organizationId ? undefined : "slug_recently_used"
    }

    const slugs: OwnSlugs = {
      fault: async (statements, request) => faultIn(await stateOf(statements, request.slug, request.scope), request),
      async refuse(statements, request) {
        const { slug, scope } = request
        const state = await stateOf(statements, slug, scope)
        const code = faultIn(state, request)
        if (code === "slug_taken")
          throw new AppError(code, `Another ${tables.thing} has this slug.`, { suggestions: await slugs.suggest(statements, slug, scope) })
        if (code) {
          const until = new Date(state.until!).toUTCString().slice(5, 16) // a reserved slug has an end
          throw new AppError(code, `This slug was used by a deleted ${tables.thing} and is reserved until ${until}. Choose another slug.`)
        }
        return { ...request, isReserved: state.until !== null }
      },
      async take(statements, { slug, scope = null, isReserved }) {
        if (isReserved) await statements.run(sql`delete from ${reserved} where ${placeOf(slug, scope)}`)
      },
      async release(statements, holder, organizationId) {
        // The table of the things has the scope column, and a holder is one of its rows.
        const scope = tables.scope === undefined ? null : (holder as unknown as Record<string, number | null>)[tables.scope]!
        await statements.run(sql`delete from ${reserved} where ${placeOf(holder.slug, scope)}`)
        const [column, value] = scopeColumn ? [sql`${scopeColumn},`, sql`${scope},`] : [raw(""), raw("")]
        await statements.run(sql`insert into ${reserved} (${column} slug_key, organization_id, ${formerId}, freed_at, until)
          values (${value} ${slugKey(holder.slug)}, ${organizationId}, ${holder.id}, ${now()}, ${now() + SLUG_RESERVED_MS})`)
      },
      async free(statements, length, scope) {
        for (;;) {
          const slug = newSlug(random, length)
          const { holder_id, until } = await stateOf(statements, slug, scope)
          if (holder_id === null && until === null) return slug
        }
      },
      async suggest(statements, wanted, scope = null) {
        const clean = wanted.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, SUGGESTED_CHARS)
        const base = clean.replace(/^-+|-+$/g, "") || newSlug(random, 7)
        // Suggestions are the base with a number: read all keys that begin with the base and a hyphen.
        const [from, to] = [slugKey(`${base}-`), slugKey(`${base}.`)]
        const range = sql`${inScope(scope)} slug_key >= ${from} and slug_key < ${to}`
        const rows = await statements.all<{ slug_key: string }>(sql`
          select slug_key from ${things} where ${range} and deleted_at is null
          union select slug_key from ${reserved} where ${range} limit 1000`)
        const unavailable = new Set(rows.map(({ slug_key }) => slug_key))
        return slugSuggestions(base, (slug) => !unavailable.has(slugKey(slug)))
      },
      async removeExpired(limit) {
        const slice = sql`select rowid from ${reserved} where until <= ${now()} limit ${limit}`
        return (await db.all(sql`delete from ${reserved} where rowid in (${slice}) returning rowid`)).length
      },
    }
    return slugs
  }
