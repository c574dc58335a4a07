import { expect, test } from "bun:test"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createClient } from "@libsql/client"
import { catalogUrl, openCatalog } from "../../../src/store/catalog/catalog.ts"
import { raw, sql } from "../../../src/store/sql.ts"
import { libsqlServer } from "../../fakes/libsql-server.ts"
import { temporaryFolder } from "../../kit.ts"

async function openTemporary(path: string) {
  const catalog = await openCatalog(catalogUrl(path))
  return Object.assign(catalog, { [Symbol.asyncDispose]: () => catalog.close() })
}

test("opens a new file with the pragmas that durability requires", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  const setting = async (name: string) => Object.values((await catalog.get<object>(raw(`pragma ${name}`)))!)[0]
  expect(await setting("journal_mode")).toBe("wal")
  expect(await setting("synchronous")).toBe(1)
  expect(await setting("foreign_keys")).toBe(1)
  expect(await setting("secure_delete")).toBe(1)
  expect(await setting("wal_autocheckpoint")).toBe(0)
  expect(await setting("application_id")).toBe(0x46464341)
})

test("accepts paths with special characters of URLs", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "50% of #1? ü.db")
  const catalog = await openTemporary(path)
  await catalog.script("create table t (n integer) strict")
  await catalog.close()
  expect(statSync(path).size).toBeGreaterThan(0)
})

test("returns values unchanged", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  await catalog.script("create table t (n integer, r real, s text, b blob) strict")
  const row = await catalog.get(
    sql`insert into t (n, r, s, b) values (${9007199254740991}, ${0.5}, ${"a'b"}, ${new Uint8Array([0, 255])}) returning n, r, s, b`,
  )
  expect(row).toEqual({ n: 9007199254740991, r: 0.5, s: "a'b", b: new Uint8Array([0, 255]) })
  expect(await catalog.get(sql`select ${5} / ${2} as whole, typeof(${5}) as type, ${undefined} is null as missing`)).toEqual({
    whole: 2,
    type: "integer",
    missing: 1,
  })
})

test("runs transactions atomically and one after another", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  await catalog.script("create table t (n integer) strict")
  const failing = catalog.transaction(async (statements) => {
    await statements.run(sql`insert into t values (1)`)
    await Bun.sleep(20)
    throw new Error("half way")
  })
  const reading = catalog.all(sql`select n from t`)
  await expect(failing).rejects.toThrow("half way")
  expect(await reading).toEqual([])
  const seen: number[] = []
  await Promise.all([
    catalog.transaction(
      async (statements) => statements.run(sql`insert into t values (2)`),
      () => seen.push(2),
    ),
    catalog.transaction(
      async (statements) => statements.run(sql`insert into t values (3)`),
      () => seen.push(3),
    ),
  ])
  expect(seen).toEqual([2, 3])
  expect(await catalog.all(sql`select n from t order by n`)).toEqual([{ n: 2 }, { n: 3 }])
})

test("lets the event loop run during a long row of statements, whose order stays", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  await catalog.script("create table t (n integer) strict")
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  const one = async (n: number) => {
    await catalog.transaction(async (statements) => {
      for (let i = 0; i < 100; i++) await statements.run(sql`insert into t (n) values (${n})`)
    })
  }
  for (let n = 0; n < 50; n++) await one(n)
  const inLoop = turns
  await Promise.all(Array.from({ length: 50 }, (_, n) => one(n + 50)))
  clearInterval(timer)
  expect(inLoop).toBeGreaterThan(2)
  expect(turns - inLoop).toBeGreaterThan(2)
  const rows = await catalog.all<{ n: number }>(sql`select n from t order by rowid`)
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 10_000 }, (_, i) => Math.floor(i / 100)))
})

test("writes a complete copy and empties the log", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  const copy = join(folder.path, "copy.db")
  {
    await using catalog = await openTemporary(path)
    await catalog.script("create table t (n integer) strict; insert into t values (7)")
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
    await catalog.checkpoint()
    expect(statSync(`${path}-wal`).size).toBe(0)
    await catalog.copyTo(copy)
    await expect(catalog.copyTo(copy)).rejects.toThrow()
  }
  await using reopened = await openTemporary(copy)
  expect(await reopened.all(sql`select n from t`)).toEqual([{ n: 7 }])
  expect(await reopened.get(sql`pragma quick_check`)).toEqual({ quick_check: "ok" })
})

test("moves the log without waiting for the disk on this thread, and commits afterwards as before", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  await using catalog = await openTemporary(path)
  await catalog.script("create table t (n integer primary key, filler blob) strict")
  const inserted = (n: number) => catalog.run(sql`insert into t (n, filler) values (${n}, zeroblob(20000))`)
  for (let n = 1; n <= 150; n++) await inserted(n)
  let turns = 0
  const turn = setInterval(() => turns++, 0)
  // What is written meanwhile waits, and is not lost with the log.
  const [, moved] = await Promise.all([inserted(151), catalog.checkpoint().then(() => statSync(`${path}-wal`).size), inserted(152)])
  clearInterval(turn)
  expect(moved).toBe(0)
  expect(turns).toBeGreaterThan(0)
  expect(await catalog.get(raw("pragma synchronous"))).toEqual({ synchronous: 1 })
  await catalog.checkpoint()
  const file = join(folder.path, "alone.db")
  writeFileSync(file, readFileSync(path))
  await using alone = await openTemporary(file)
  expect(await alone.get(sql`select count(*) as n from t`)).toEqual({ n: 152 })
})

test("copies one state of the catalog while others are written and moved into its file", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  const copy = join(folder.path, "copy.db")
  await using catalog = await openTemporary(path)
  await catalog.script(
    `create table a (n integer primary key, filler blob) strict; create table b (n integer primary key, filler blob) strict`,
  )
  const add = (n: number) =>
    catalog.transaction(async ({ run }) => {
      await run(sql`insert into a (n, filler) values (${n}, zeroblob(20000))`)
      await run(sql`insert into b (n, filler) values (${n}, zeroblob(20000))`)
    })
  for (let n = 1; n <= 50; n++) await add(n)
  let isCopied = false
  const copied = catalog.copyTo(copy).finally(() => {
    isCopied = true
  })
  let last = 50
  for (; !isCopied; last++) {
    await add(last + 1)
    if (last % 10 === 0) await catalog.checkpoint()
  }
  await copied
  await catalog.checkpoint()
  expect(statSync(`${path}-wal`).size).toBe(0)
  await using reopened = await openTemporary(copy)
  expect(await reopened.get(sql`pragma integrity_check`)).toEqual({ integrity_check: "ok" })
  const [inA, inB] = await reopened.all<{ n: number }>(sql`select count(*) as n from a union all select count(*) from b`)
  expect(inA).toEqual(inB!)
  expect(inA!.n).toBeGreaterThanOrEqual(50)
  expect(last).toBeGreaterThan(inA!.n)
})

test("rejects a file of another program and leaves it unchanged", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  const foreign = createClient({ url: `file:${path}` })
  await foreign.execute("create table theirs (n integer)")
  foreign.close()
  const before = readFileSync(path)
  await expect(openCatalog(catalogUrl(path))).rejects.toMatchObject({ name: "StoreRefusal", reason: "foreign" })
  expect(readFileSync(path).equals(before)).toBe(true)
})

test("reports a file that is not a database as damaged", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  writeFileSync(path, "not a database ".repeat(1000))
  await expect(openCatalog(catalogUrl(path))).rejects.toMatchObject({ name: "StoreFault", kind: "damaged" })
})

test("reports a missing folder as an I/O failure", async () => {
  using folder = temporaryFolder()
  await expect(openCatalog(catalogUrl(join(folder.path, "nowhere", "catalog.db")))).rejects.toMatchObject({
    name: "StoreFault",
    kind: "io",
  })
})

test("delays writes, not reads, while another process has locked the file", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  await using catalog = await openTemporary(path)
  await catalog.script("create table t (n integer) strict")
  await using other = await holdLock(path)
  const writing = catalog.run(sql`insert into t values (1)`)
  const transaction = catalog.transaction((statements) => statements.run(sql`insert into t values (2)`))
  expect(await catalog.all(sql`select n from t`)).toEqual([])
  await other.release()
  await Promise.all([writing, transaction])
  expect(await catalog.all(sql`select n from t order by n`)).toEqual([{ n: 1 }, { n: 2 }])
})

test("reports a file that stays locked to the fault listener", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "catalog.db")
  const faults: string[] = []
  const catalog = await openCatalog(catalogUrl(path), { onFault: ({ kind }) => faults.push(kind) })
  await catalog.script("create table t (n integer) strict")
  const other = await holdLock(path)
  await expect(catalog.run(sql`insert into t values (1)`)).rejects.toMatchObject({ name: "StoreFault", kind: "locked" })
  expect(faults).toEqual(["locked"])
  await other.release()
  await catalog.run(sql`insert into t values (1)`)
  await catalog.close()
}, 15_000)

test("waits until a server gives up the transaction of a process that was killed", async () => {
  using folder = temporaryFolder()
  await using server = await libsqlServer(folder.path)
  const catalog = await openCatalog(server.url)
  await catalog.script("create table t (n integer) strict")
  const killed = createClient({ url: server.url })
  const abandoned = await killed.transaction("write")
  await abandoned.execute("insert into t values (1)")
  await catalog.run(sql`insert into t values (2)`)
  expect(await catalog.all(sql`select n from t`)).toEqual([{ n: 2 }])
  killed.close()
  await catalog.close()
}, 30_000)

/** Starts another process that is in the middle of a write. */
async function holdLock(path: string): Promise<AsyncDisposable & { release(): Promise<void> }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "lock-holder.ts"), path], { stdin: "pipe", stdout: "pipe" })
  await child.stdout.getReader().read()
  const release = async () => {
    child.stdin.end()
    await child.exited
  }
  return { release, [Symbol.asyncDispose]: release }
}

test("rejects a write completely on a full disk and accepts it once there is space", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  await catalog.script("create table t (b blob) strict")
  // SQLite's own page limit fails in the same way as a full disk.
  await catalog.get(raw("pragma max_page_count = 20"))
  const fill = (statements: Pick<typeof catalog, "run">) => statements.run(sql`insert into t values (zeroblob(200000))`)
  await expect(fill(catalog)).rejects.toMatchObject({ name: "StoreFault", kind: "full" })
  await expect(
    catalog.transaction(async (statements) => {
      await statements.run(sql`insert into t values (x'00')`)
      await fill(statements)
    }),
  ).rejects.toMatchObject({ name: "StoreFault", kind: "full" })
  expect(await catalog.get(sql`select count(*) as n from t`)).toEqual({ n: 0 })
  await catalog.get(raw("pragma max_page_count = 1000"))
  await fill(catalog)
  expect(await catalog.get(sql`select count(*) as n from t`)).toEqual({ n: 1 })
})

test("keeps acknowledged writes after a kill", async () => {
  using folder = temporaryFolder()
  for (let run = 0; run < 5; run++) {
    const path = join(folder.path, `${run}.db`)
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "writing.ts"), path], { stdout: "pipe" })
    let out = ""
    for await (const piece of child.stdout) {
      if (out === "") setTimeout(() => child.kill("SIGKILL"), 20 + run * 20)
      out += Buffer.from(piece).toString()
    }
    const acknowledged = out.trim().split("\n").map(Number)
    await using catalog = await openTemporary(path)
    const { n } = (await catalog.get<{ n: number }>(sql`select count(*) as n from t`))!
    expect(acknowledged.at(-1)!).toBeGreaterThan(0)
    expect([0, 1]).toContain(n - acknowledged.at(-1)!)
    expect(await catalog.get(sql`pragma quick_check`)).toEqual({ quick_check: "ok" })
  }
}, 20_000)

test("resolves a transaction when its commit is on disk, and runs the next one meanwhile", async () => {
  using folder = temporaryFolder()
  await using catalog = await openTemporary(join(folder.path, "catalog.db"))
  await catalog.script("create table t (n integer) strict")
  const order: string[] = []
  const write = (n: number) =>
    catalog
      .transaction(
        async (statements) => statements.run(sql`insert into t values (${n})`),
        () => order.push(`${n} committed`),
      )
      .then(() => order.push(`${n} on disk`))
  await Promise.all([write(1), write(2)])
  expect(order.indexOf("2 committed")).toBeLessThan(order.indexOf("1 on disk"))
  expect(order.indexOf("1 committed")).toBeLessThan(order.indexOf("1 on disk"))
  expect(order).toHaveLength(4)
})
