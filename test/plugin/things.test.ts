import { expect, test } from "bun:test"
import { AppError, type Counters, definePlugin, type Host, type OwnSlugs, type Site, sql, type Trash } from "#plugin"
import { startInstance, type TestInstance } from "#plugin/test"

interface Book {
  id: number
  site_id: number
  slug: string
  reads: number
  deleted_at: number | null
}

const TABLES = `
create table books_books (id integer primary key autoincrement, site_id integer not null, slug text not null, slug_key text not null,
  reads integer not null default 0, deleted_at integer) strict;
create table books_tombstones (slug_key text primary key, organization_id integer not null, book_id integer not null,
  freed_at integer not null, until integer not null) strict;
create table books_positions (site_id integer not null, node integer not null, at integer not null, sequence integer not null,
  target integer, done_id integer not null, primary key (site_id, node)) strict;`

const COLUMNS = sql`id, site_id, slug, reads, deleted_at`
const DAY_MS = 86_400_000

/** Starts an instance with a plugin that uses the three services. */
async function openShelf() {
  let host!: Host
  let slugs!: OwnSlugs
  let trash!: Trash<Book>
  let counters!: Counters
  const plugin = definePlugin({
    id: "books",
    title: "Books",
    paths: { open: ["read"] },
    migrations: [{ name: "0001_books", sql: TABLES }],
    records: { book_read: { title: "Book read", kind: "opens" } },
    setup(given) {
      host = given
      slugs = host.slugs({ thing: "book", table: "books_books", reserved: "books_tombstones" })
      trash = host.trash<Book, Book>({
        thing: "book",
        table: "books_books",
        columns: COLUMNS,
        read: (row) => row,
        label: ({ slug }) => slug,
        notFound: () => new AppError("not_found", "There is no such book."),
        slugs,
      })
      counters = host.counters<Book, number>({
        kind: "opens",
        by: ["book_id"],
        positions: "books_positions",
        job: "count-reads",
        siteIds: () => [1],
        sum: (groups) => groups.reduce((sum, { count }) => sum + count, 0),
        add: (statements, id, reads) =>
          statements.get<Book>(sql`update books_books set reads = reads + ${reads} where id = ${id} returning ${COLUMNS}`),
        committed: () => {},
      })
      const routes = host.openRouter().get("/read/:id", async ({ params, request, server }) => {
        const site = host.services.sites.directory.byId(1)!
        await host.record({ request, server }, site, { name: "book_read", props: { book_id: params.id } })
        counters.soon(site.id)
        return ""
      })
      return {
        openRoutes: [routes],
        jobs: { "count-reads": { interrupted: "resume", run: ({ signal }) => counters.run(signal) } },
      }
    },
  })
  const instance = await startInstance({ plugins: [plugin] })
  const { site } = instance
  const claim = { organizationId: site.organization_id, force: false }
  return {
    ...{ instance, host, slugs, trash, counters, site, claim },
    add: (slug: string): Promise<Book> =>
      host.db.transaction(async (statements) => {
        await slugs.take(statements, await slugs.refuse(statements, { slug, ...claim }))
        const book = await statements.get<Book>(sql`insert into books_books (site_id, slug, slug_key)
          values (${site.id}, ${slug}, ${slug.toLowerCase()}) returning ${COLUMNS}`)
        return book!
      }),
    remove: (book: Book): Promise<void> =>
      host.db.transaction(async (statements) => {
        await statements.run(sql`update books_books set deleted_at = ${host.now()} where id = ${book.id}`)
        await slugs.release(statements, book, site.organization_id)
      }),
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}

test("treats slugs that differ only in case as equal, and suggests free ones", async () => {
  await using shelf = await openShelf()
  await shelf.add("Spring")
  await shelf.add("spring-2")
  await expect(shelf.add("SPRING")).rejects.toMatchObject({
    code: "slug_taken",
    message: "Another book has this slug.",
    members: { suggestions: ["SPRING-3", "SPRING-4", "SPRING-5"] },
  })
  expect(await shelf.slugs.free(shelf.host.db, 9)).toMatch(/^[a-zA-Z2-9]{9}$/)
})

test("reserves the slug of a deleted thing for 90 days, except for the thing and for its organization with force", async () => {
  await using shelf = await openShelf()
  const { slugs, host, claim, instance } = shelf
  const book = await shelf.add("spring")
  await shelf.remove(book)
  const fault = (more: object) => slugs.fault(host.db, { slug: "Spring", ...claim, ...more })
  await expect(shelf.add("spring")).rejects.toMatchObject({
    code: "slug_recently_used",
    message: "This slug was used by a deleted book and is reserved until 19 Feb 2027. Choose another slug.",
  })
  expect(await Promise.all([fault({ id: book.id }), fault({ force: true }), fault({ force: true, organizationId: 7 })])).toEqual([
    undefined,
    undefined,
    "slug_recently_used",
  ])
  instance.clock.advance(90 * DAY_MS)
  expect(await fault({})).toBeUndefined()
  expect(await slugs.removeExpired(20)).toBe(1)
})

test("finds a deleted thing for 30 days, then removes its row and writes an audit entry", async () => {
  await using shelf = await openShelf()
  const { trash, host, site, instance } = shelf
  const [kept, deleted] = [await shelf.add("kept"), await shelf.add("deleted")]
  await shelf.remove(deleted)
  await expect(trash.find(host.db, site, deleted.id)).rejects.toMatchObject({ code: "not_found" })
  expect(await trash.findDeleted(host.db, site, String(deleted.id))).toMatchObject({ slug: "deleted" })
  expect(await slugsOf(trash, site)).toEqual(["kept"])
  instance.clock.advance(30 * DAY_MS)
  await expect(trash.findDeleted(host.db, site, deleted.id)).rejects.toMatchObject({ code: "not_found" })
  await trash.purge(new AbortController().signal)
  expect(await host.db.all(sql`select id from books_books`)).toEqual([{ id: kept.id }])
  const { catalog } = instance.app.instance
  const entries = await catalog.all(sql`select target_id from audit_log where action = 'books.book.purge'`)
  expect(entries).toEqual([{ target_id: String(deleted.id) }])
})

test("removes all things of a deleted site and reserves their slugs for no organization", async () => {
  await using shelf = await openShelf()
  for (let n = 0; n < 25; n++) await shelf.add(`book-${n}`)
  const removed: string[] = []
  expect(await shelf.trash.removeSite(shelf.site.id, (books) => removed.push(...books.map(({ slug }) => slug)))).toBe(25)
  expect(removed).toHaveLength(25)
  const request = { slug: "book-0", ...shelf.claim, force: true }
  expect(await shelf.slugs.fault(shelf.host.db, request)).toBe("slug_recently_used")
})

test("counts each record once, in a job", async () => {
  await using shelf = await openShelf()
  const { instance, host, counters, site } = shelf
  const { id } = await shelf.add("spring")
  const reads = async () => (await host.db.get<Book>(sql`select ${COLUMNS} from books_books where id = ${id}`))!.reads
  for (let n = 1; n <= 3; n++) await read(instance, id)
  expect(await reads()).toBe(0)
  instance.clock.advance(20_000)
  await instance.runJobs()
  expect(await reads()).toBe(3)
  await read(instance, id)
  await Promise.all([counters.site(site.id), counters.run(), counters.site(site.id)])
  expect(await reads()).toBe(4)
  await counters.removeSite(site.id)
  expect(await host.db.all(sql`select site_id from books_positions`)).toEqual([])
})

test("counts no record twice when a run was interrupted after its first transaction", async () => {
  await using shelf = await openShelf()
  const { instance, host, counters, site } = shelf
  const [counted, missed] = [await shelf.add("counted"), await shelf.add("missed")]
  for (const { id } of [counted, missed]) await read(instance, id)
  await counters.site(site.id)
  // The state on disk if the process ends before the second book is written, and reads that follow.
  await host.db.run(sql`update books_books set reads = 0 where slug = 'missed'`)
  await host.db.run(sql`update books_positions set target = sequence, sequence = 0, done_id = ${counted.id}`)
  for (const { id } of [counted, missed]) await read(instance, id)
  await counters.site(site.id)
  expect(await host.db.all(sql`select reads from books_books order by id`)).toEqual([{ reads: 2 }, { reads: 2 }])
})

test("counts the records of this node, whatever the positions of other nodes are", async () => {
  await using shelf = await openShelf()
  const { instance, host, counters, site } = shelf
  const { id } = await shelf.add("spring")
  await host.db.run(sql`insert into books_positions (site_id, node, at, sequence, done_id)
    values (${site.id}, 7, ${host.now()}, 1000000, 0)`)
  await read(instance, id)
  await counters.site(site.id)
  expect(await host.db.all(sql`select reads from books_books`)).toEqual([{ reads: 1 }])
  expect(await host.db.all(sql`select sequence from books_positions where node = 7`)).toEqual([{ sequence: 1_000_000 }])
})

async function slugsOf(trash: Trash<Book>, site: Site): Promise<string[]> {
  const slugs: string[] = []
  for await (const { slug } of trash.ofSite(site)) slugs.push(slug)
  return slugs
}

async function read({ fetch, app }: TestInstance, id: number): Promise<void> {
  await fetch(new Request(`http://localhost/read/${id}`, { headers: { "user-agent": "Mozilla/5.0 (X11; Linux) Firefox/130.0" } }))
  await app.collector.recorded()
}
