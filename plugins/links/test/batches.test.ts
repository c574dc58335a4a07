import { afterAll, expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const stand = await linkStand()
afterAll(() => stand[Symbol.asyncDispose]())
const { ask, make, visit } = stand
const destination = "https://example.com/"

test("rows of a batch stand alone", async () => {
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
])("a file of %s is looked at first, and written when it is asked for", async (format, csv, slug) => {
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

test("a file with faults says them by line, before and after", async () => {
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

test("a look at a file refuses what writing it would refuse", async () => {
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
