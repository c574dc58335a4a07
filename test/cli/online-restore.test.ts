/** A complete restore in a separate process: the instance stops, swaps its stores and continues. */
import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { temporaryFolder } from "../kit.ts"
import { footfall, serving } from "./footfall.ts"

const PASSWORD = "correct horse battery staple"
const PASSPHRASE = "a long walk in the rain"

/** Returns a client of the private API, signed in as an administrator. */
async function signedIn(address: string) {
  const response = await fetch(`${address}/api/private/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "ann@example.org", password: PASSWORD }),
  })
  expect(response.status).toBe(200)
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ")
  return async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${address}/api/private/admin${path}`, {
      method,
      headers: { cookie, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json().catch(() => undefined)) as never }
  }
}

async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; await Bun.sleep(50)) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
  }
  throw new Error(`It never came to that: ${what}`)
}

const collect = async (address: string, visitor: number): Promise<number> => {
  const response = await fetch(`${address}/api/event`, {
    method: "POST",
    headers: {
      "user-agent": `Mozilla/5.0 (X11; Linux x86_64; rv:1${visitor}.0) Gecko/20100101 Firefox/1${visitor}.0`,
      "content-type": "text/plain",
    },
    body: JSON.stringify({ n: "pageview", u: "https://shop.example/", d: "shop.example" }),
  })
  return response.status
}

test("restores an encrypted backup while the instance serves, without losing anything acknowledged", async () => {
  using folder = temporaryFolder()
  const dataDir = `${folder.path}/data`
  const more = ["--data-dir", dataDir, "--json"]
  const setup = ["setup", "--email", "ann@example.org", "--name", "Ann", "--organization", "Shop", "--password-stdin"]
  expect((await footfall([...setup, ...more], { input: PASSWORD })).code).toBe(0)
  expect((await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", ...more])).code).toBe(0)
  const { key } = JSON.parse((await footfall(["key", "create", "--name", "K", "--scopes", "stats:read", ...more])).out) as { key: string }

  await using server = await serving(dataDir)
  const { address } = server
  const visitors = async () => {
    const answer = await fetch(`${address}/api/public/v1/sites/1/stats/summary?period=today&metrics=visitors`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return answer.status === 200 ? ((await answer.json()) as { metrics: { visitors: number } }).metrics.visitors : undefined
  }
  for (let visitor = 0; visitor < 3; visitor++) expect(await collect(address, visitor)).toBe(202)
  const call = await signedIn(address)
  expect((await call("POST", "/backups", { encrypt: { passphrase: PASSPHRASE } })).status).toBe(202)
  const backup = await until(async () => ((await call("GET", "/backups")).body as { data: { id: string }[] }).data[0], "a backup")
  for (let visitor = 3; visitor < 5; visitor++) expect(await collect(address, visitor)).toBe(202)
  expect(await visitors()).toBe(5)

  const restore = { confirm: backup.id, passphrase: PASSPHRASE }
  expect((await call("POST", `/backups/${backup.id}/restore`, restore)).status).toBe(202)
  expect(await until(async () => ((await visitors()) === 3 ? 3 : undefined), "the restored numbers")).toBe(3)
  // All sessions have ended, and the same process continues.
  expect((await call("GET", "/backups")).status).toBe(401)
  expect(() => process.kill(server.pid, 0)).not.toThrow()
  expect(await collect(address, 9)).toBe(202)

  const again = await signedIn(address)
  const { data } = (await again("GET", "/backups")).body as { data: { id: string; kind: string; state: string }[] }
  const safety = data.find(({ kind }) => kind === "restore")
  expect(safety).toMatchObject({ state: "verified" })
  const log = (await again("GET", "/audit?action=admin.backup.*")).body as {
    data: { action: string; target_id: string; changes: object }[]
  }
  expect(log.data[0]).toMatchObject({
    action: "admin.backup.restore",
    target_id: backup.id,
    changes: { safety_backup: [null, safety!.id] },
  })
  expect((await again("GET", "/audit/verify")).body).toMatchObject({ ok: true })
  expect(readdirSync(dataDir).filter((name) => /^(\.restore|replaced|\.swap)/.test(name))).toEqual([])

  // Later data is in the backup that was made before the swap.
  expect((await again("POST", `/backups/${safety!.id}/restore`, { confirm: safety!.id })).status).toBe(202)
  expect(await until(async () => ((await visitors()) === 5 ? 5 : undefined), "the numbers before")).toBe(5)
  expect(await server.end("SIGTERM")).toBe(0)
}, 120_000)
