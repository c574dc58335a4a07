import { afterAll, expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const stand = await linkStand()
afterAll(() => stand[Symbol.asyncDispose]())
const { ask, make, visit } = stand
const destination = "https://example.com/"

test("writes the valid rows of a batch although others fail", async () => {
  const [one, two, three] = [await make({ destination }), await make({ destination }), await make({ destination })]
  const results = async (op: string, rows: unknown[]) => (await ask("POST", `${PATH}/bulk`, { op, rows })).body.results
  expect(await results("create", [{ destination }, { destination: "javascript:x" }, 5, { destination, slug: "bulked" }])).toMatchObject([
    { index: 0, status: "created", id: expect.any(Number) },
    { index: 1, status: "failed", error: { code: "invalid_destination" } },
    { index: 2, status: "failed", error: { code: "validation_failed" } },
    { index: 3, status: "created" },
  ])
  expect(await results("update", [{ id: one.id, title: "New" }, { id: 999_999, title: "x" }, { title: "x" }])).toMatchObject([
    { status: "updated", id: one.id },
    { status: "failed", error: { code: "link_not_found" } },
    { status: "failed", error: { code: "validation_failed", errors: [{ pointer: "/id" }] } },
  ])
  expect(await results("archive", [{ id: two.id }])).toMatchObject([{ status: "archived", id: two.id }])
  expect(await results("delete", [{ id: three.id }])).toMatchObject([{ status: "deleted", id: three.id }])
  expect([await visit(`/l/${two.slug}`), await visit(`/l/${three.slug}`)].map(({ status }) => status)).toEqual([404, 404])
  expect(await ask("POST", `${PATH}/bulk`, { op: "create", rows: Array(501).fill({ destination }) })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/rows", code: "too_many" }] },
  })
  expect(await ask("POST", `${PATH}/bulk`, { op: "explode", rows: [{}] })).toMatchObject({ status: 422 })
})

test.each([
  ["plain", 'slug,destination,title,tags\r\nplain-1,https://example.com/1,One,"a,b"\r\n', "plain-1"],
  ["bitly", "title,bitlink,long_url,created\nOne,https://bit.ly/bitly-1,https://example.com/1,2026-01-01\n", "bitly-1"],
  [
    "shlink",
    "createdAt,shortCode,shortUrl,longUrl,title,tags\n2026-01-01,shlink-1,https://s.example/shlink-1,https://example.com/1,One,a|b\n",
    "shlink-1",
  ],
  ["yourls", "keyword,url,title,timestamp,ip,clicks\nyourls-1,https://example.com/1,One,2026-01-01,192.0.2.1,5\n", "yourls-1"],
  ["dub", "Short link,Destination URL,Tags,Created at\nhttps://dub.sh/dub-1,https://example.com/1,a,2026-01-01\n", "dub-1"],
])("previews a %s file, and imports it on request", async (format, csv, slug) => {
  const look = await ask("POST", `${PATH}/import`, { csv })
  expect(look.body).toEqual({
    format,
    dry_run: true,
    counts: { ok: 1, failed: 0 },
    rows: [{ line: 2, status: "ok", slug, destination: "https://example.com/1" }],
  })
  expect((await visit(`/l/${slug}`)).status).toBe(404)
  expect((await ask("POST", `${PATH}/import`, { csv, apply: true })).body).toMatchObject({ dry_run: false, rows: [{ status: "created" }] })
  expect((await visit(`/l/${slug}`)).headers.get("location")).toBe("https://example.com/1")
})

test("reports the problems of a CSV file by line in the preview and the import", async () => {
  const csv =
    '\ufeffslug,destination,title\n"quoted ""one""",https://example.com/,x\nadmin,https://example.com/,x\nok-row,"javascript:x",x\n\ntwice,https://example.com/,=1\nTWICE,https://example.com/,"a\nb"\nTwice,https://example.com/,x\n'
  const { body } = await ask("POST", `${PATH}/import`, { csv })
  expect(body.counts).toEqual({ ok: 1, failed: 5 })
  expect(
    body.rows.map(({ line, status, error }: { line: number; status: string; error?: { code: string } }) => [line, status, error?.code]),
  ).toEqual([
    [2, "failed", "invalid_slug"],
    [3, "failed", "slug_reserved"],
    [4, "failed", "invalid_destination"],
    [6, "ok", undefined],
    [7, "failed", "validation_failed"],
    [9, "failed", "slug_taken"],
  ])
  expect(await ask("POST", `${PATH}/import`, { csv: "a,b\n1,2\n" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/csv", code: "required" }] },
  })
})

test("rejects the same rows in the preview as in the import", async () => {
  const tags = Array.from({ length: 51 }, (_, place) => `t${place}`).join(",")
  const rows = [
    ["look-lines", destination, '"two\nlines"', ""],
    ["look-tag", destination, "x", "y".repeat(41)],
    ["look-tags", destination, "x", `"${tags}"`],
    ["look-loop", "http://localhost/l/look-loop", "x", ""],
    ["look-long", destination, `${"a".repeat(199)}😀b`, ""],
  ]
  const csv = ["slug,destination,title,tags", ...rows.map((row) => row.join(","))].join("\n")
  const outcomes = async (apply: boolean) =>
    (await ask("POST", `${PATH}/import`, { csv, apply })).body.rows.map(({ error }: { error?: { code: string } }) => error?.code ?? "ok")
  const wanted = ["validation_failed", "validation_failed", "validation_failed", "redirect_loop", "ok"]
  expect([await outcomes(false), await outcomes(true)]).toEqual([wanted, wanted])
  expect((await ask("GET", `${PATH}?q=look-long`)).body.data[0].title).toBe(`${"a".repeat(199)}😀`)
})

test("answers redirects while a batch runs, including those of its first rows", async () => {
  await using busy = await linkStand()
  await busy.visit("/l/nothing") // loads all links
  const turnsDuring = async (batch: Promise<unknown>) => {
    let isOver = false
    const ended = batch.finally(() => {
      isOver = true
    })
    const statuses: number[] = []
    while (!isOver) {
      statuses.push((await busy.visit("/l/row-0")).status)
      await Bun.sleep(0)
    }
    await ended
    return statuses
  }
  const rows = Array.from({ length: 400 }, (_, row) => ({ slug: `row-${row}`, destination }))
  const csv = ["slug,destination", ...rows.map(({ slug }) => `${slug},${destination}`)].join("\n")
  expect((await turnsDuring(busy.ask("POST", `${PATH}/import`, { csv }))).length).toBeGreaterThan(10)
  const statuses = await turnsDuring(busy.ask("POST", `${PATH}/import`, { csv, apply: true }))
  // The first link redirects long before the last one is written.
  expect(statuses.filter((status) => status === 302).length).toBeGreaterThan(10)
  const { data } = (await busy.ask("GET", `${PATH}?limit=200&count=true`)).body
  const ids = data.map(({ id }: { id: number }) => ({ id }))
  for (const op of ["archive", "delete"])
    expect((await turnsDuring(busy.ask("POST", `${PATH}/bulk`, { op, rows: ids }))).length).toBeGreaterThan(5)
}, 30_000)

test("resumes an interrupted batch after its last written row when it is sent again with its key", async () => {
  await using cut = await linkStand()
  const { catalog } = cut.instance.app.instance
  const rows = Array.from({ length: 100 }, (_, row) => ({ destination: row === 3 ? "javascript:x" : `https://example.com/${row}` }))
  const send = (body: object) => cut.ask("POST", `${PATH}/bulk`, body, { "idempotency-key": "batch-1" })
  await catalog.script(
    "create trigger cut_off before insert on links_links when new.destination like '%/60' begin select raise(abort, 'cut off'); end",
  )
  expect((await send({ op: "create", rows })).status).toBe(500)
  const written = (await cut.ask("GET", `${PATH}?count=true&limit=1`)).body.total
  expect(written).toBeGreaterThan(0)
  expect(written).toBeLessThan(60)
  expect(await send({ op: "create", rows: rows.slice(1) })).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } })
  await catalog.script("drop trigger cut_off")
  const { status, headers, body } = await send({ op: "create", rows })
  expect([status, headers.get("idempotency-replayed")]).toEqual([200, null])
  expect(body.results.map(({ index }: { index: number }) => index)).toEqual(rows.map((_, index) => index))
  expect(body.results.filter(({ status }: { status: string }) => status === "failed")).toMatchObject([{ index: 3 }])
  const found = (await cut.ask("GET", `${PATH}?limit=200`)).body.data.map(({ destination }: { destination: string }) => destination)
  expect(found.toSorted()).toEqual(
    rows
      .filter((_, row) => row !== 3)
      .map(({ destination }) => destination)
      .toSorted(),
  )
  const again = await send({ op: "create", rows })
  expect([again.headers.get("idempotency-replayed"), again.body]).toEqual(["true", body])
})

test("checks slugs, limits and redirect chains against earlier rows of the same batch", async () => {
  const at = (slug: string) => `http://localhost/l/${slug}`
  const rows = [
    { slug: "sees-a", destination: at("sees-b") },
    { slug: "sees-b", destination: at("sees-c") },
    { slug: "SEES-A", destination },
    { slug: "sees-c", destination: at("sees-a") },
    { slug: "sees-c", destination: at("sees-d") },
    { slug: "sees-d", destination },
    { slug: "sees-d", destination: "https://example.com/d" },
  ]
  const { results } = (await ask("POST", `${PATH}/bulk`, { op: "create", rows })).body
  expect(results.map(({ status, error }: { status: string; error?: { code: string } }) => error?.code ?? status)).toEqual([
    "created",
    "created",
    "slug_taken",
    "redirect_loop",
    "created",
    "redirect_loop",
    "redirect_loop",
  ])
  const [a, b] = results
  const moved = await ask("POST", `${PATH}/bulk`, {
    op: "update",
    rows: [
      { id: a.id, destination },
      { id: b.id, destination: at("sees-a") },
    ],
  })
  expect(moved.body.results).toMatchObject([{ status: "updated" }, { status: "updated" }])
  const gone = await ask("POST", `${PATH}/bulk`, { op: "delete", rows: [{ id: a.id }, { id: a.id }] })
  expect(gone.body.results).toMatchObject([{ status: "deleted" }, { status: "failed", error: { code: "link_not_found" } }])
})
