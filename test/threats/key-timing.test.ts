import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { Glob } from "bun"
import { composeKey } from "../../src/domain/key-token.ts"
import type { Statements } from "../../src/store/catalog/catalog.ts"
import type { Sql } from "../../src/store/sql.ts"
import { ADA, browserOf, setUp } from "../http/private/browser.ts"
import { newUser, ORGANIZATION } from "../http/private/people.ts"
import { startInstance, type TestInstance } from "../kit.ts"

// Threats `key-timing` and `enumeration`, verified by structure instead of by time: secrets are looked up by their hash, never
// compared character by character, and an unknown thing causes the same work as a known one that belongs to someone else.

const sources = await Promise.all(
  Array.from(new Glob("{src,plugins}/**/*.ts").scanSync("."))
    .filter((path) => !/\/(ui|test)\/|^src\/(ui|tracker)\//.test(path))
    .map(async (path) => ({ path, lines: (await Bun.file(path).text()).split("\n") })),
)

const SECRET = String.raw`[\w.?]*(?:token|secret|signature|password|digest|hash|nonce|challenge|verifier|credential|cookie)\w*(?:\([^()]*\))?(?:\.toHex\(\))?`
const COMPARED = [new RegExp(String.raw`(${SECRET}) [!=]==? (\S+)`, "gi"), new RegExp(String.raw`(\S+) [!=]==? (${SECRET})`, "gi")]
/** A check for presence, a length, or a constant of our own. */
const HARMLESS = /^[("'`]|^\(?(undefined|null|true|false|typeof|-?\d+|void)\b|\.length\b/

/** Comparisons that may take variable time, because an attacker learns nothing from it. */
const NOT_SECRET: Readonly<Record<string, string>> = {
  "plugins/imports/lifecycle.ts": "the hash of a preview, which the same user was shown",
  "plugins/imports/streams/streams.ts": "numbers of rows of secrets",
  "plugins/links/link-writes.ts": "two stored hashes of one link",
  "src/domain/key-token.ts": "a key's checksum, which anybody can compute",
  "src/services/backup/bucket.ts": "a token of a list's next page",
  "src/services/connections/connections.ts": "numbers of rows of secrets, and a token that the same plugin was given",
  "src/services/api-keys/idempotency.ts": "hashes of bodies that the same caller has sent",
  "src/services/oidc/organization-providers.ts": "numbers of rows of secrets",
  "src/services/backup/remote-backups.ts": "a file's checksum",
  "src/store/events/bytes/bytes.ts": "a column's checksum",
}

/** An area's folder may have been deleted; its entries are then not checked. */
const isInDeletedArea = (path: string): boolean => path.startsWith("plugins/") && !existsSync(path.split("/").slice(0, 2).join("/"))

test("secrets are compared only in constant time", () => {
  const found = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line) =>
      COMPARED.flatMap((form) => [...line.matchAll(form)])
        .filter(([, left = "", right = ""]) => !HARMLESS.test(left) && !HARMLESS.test(right) && !line.includes("typeof "))
        .map(([compared]) => ({ path, compared })),
    ),
  )
  expect(found.filter(({ path }) => !(path in NOT_SECRET))).toEqual([])
  expect(Object.keys(NOT_SECRET).filter((path) => !isInDeletedArea(path) && !found.some((one) => one.path === path))).toEqual([])
})

test("statements look up secrets only by their hash", () => {
  const asked = sources
    .filter(({ path }) => path.startsWith("src/store/catalog/"))
    .flatMap(({ lines }) => lines)
    .flatMap((line) => [...line.matchAll(/\b(?:where|and|or)\s+\(?(\w*(?:token|secret|code|hash|slug)\w*)\s*=\s*\$\{(\w+)/g)])
    .map(([, column, value]) => `${column} = ${value}`)
  expect([...new Set(asked)].sort()).toEqual([
    "hash = hash",
    "password_hash = old", // compare-and-set: the value that was read from the user's row
    "previous_hash = tokenHash",
    "secret_id = secretId", // compare-and-set: the number of the row of a secret, which was read from the connection's row
    "slug_hash = slugHash",
    "token_hash = tokenHash",
  ])
})

let instance: TestInstance
/** Texts of the statements executed since the last request. */
let asked: string[] = []
beforeAll(async () => {
  instance = await startInstance({ settings: { base_url: "http://localhost" } })
  await setUp(instance)
  const { catalog } = instance.app.instance
  const { all, transaction } = catalog
  const recording = <Given extends Statements>(statements: Given): Given => ({
    ...statements,
    all: (statement) => statements.all(recordStatement(statement)),
    get: (statement) => statements.get(recordStatement(statement)),
    run: (statement) => statements.run(recordStatement(statement)),
  })
  // Records every statement of the catalog itself.
  catalog.all = (statement) => all(recordStatement(statement))
  catalog.get = async <Row>(statement: Sql) => (await all<Row>(recordStatement(statement)))[0]
  catalog.run = async (statement) => void (await all(recordStatement(statement)))
  catalog.transaction = (work, committed) => transaction((statements) => work(recording(statements)), committed)
})
afterAll(() => instance[Symbol.asyncDispose]())

function recordStatement(statement: Sql): Sql {
  asked.push(statement.text.replace(/\s+/g, " "))
  return statement
}

/** Returns the response of a request and the statements that it executed. */
async function workOf(ask: () => Promise<{ status: number; body: unknown }>) {
  asked = []
  const { status, body } = await ask()
  return { status, body: { ...(body as object), request_id: "" }, asked }
}

let network = 0
const anonymousBrowser = () => browserOf(instance, `192.0.${network++}.1`)
const KEY_INFO = "/api/public/v1/key"

test("a key with a known id causes the same work as an unknown key", async () => {
  const knownId = instance.statsKey.split("_")[1]!
  const tokens = [1, 2].map((byte) => composeKey(new Uint8Array(48).fill(byte)).token)
  const known = composeKey(new Uint8Array(48).fill(3), knownId).token
  const answers = []
  for (const token of [...tokens, known]) answers.push(await workOf(() => instance.api.get(KEY_INFO, token)))
  expect(answers[0]).toMatchObject({ status: 401, body: { code: "invalid_api_key" } })
  expect(answers[0]!.asked).toHaveLength(1)
  expect(answers[1]).toEqual(answers[0]!)
  expect(answers[2]).toEqual(answers[0]!)
})

test("a wrong password for a known address causes the same work as for an unknown one, password hash included", async () => {
  const { catalog } = instance.app.instance
  await catalog.script(
    "insert into users (email, email_key, name, is_instance_admin, status, created_at) values ('off@example.org', 'off@example.org', 'Off', 0, 'disabled', 0)",
  )
  const { postMessage } = Worker.prototype
  let hashes = 0
  // Worker threads compute the hashes, so the messages to them are counted.
  Worker.prototype.postMessage = function (message: { do?: string }, options?: object) {
    if (message.do === "verify") hashes++
    postMessage.call(this, message, options)
  }
  await anonymousBrowser().get("/me") // the first request also reads whether the instance is set up
  const answers = []
  for (const email of ["nobody@example.org", ADA.email, "off@example.org"]) {
    hashes = 0
    const answer = await workOf(() => anonymousBrowser().post("/auth/login", { email, password: "another long password" }))
    answers.push({ ...answer, hashes })
  }
  Worker.prototype.postMessage = postMessage
  expect(answers[0]).toMatchObject({ status: 401, hashes: 1 })
  expect(answers[1]).toEqual(answers[0]!)
  expect(answers[2]).toEqual(answers[0]!)
})

test("expired email tokens cause the same work as unknown ones", async () => {
  const owner = await newUser(instance, { role: "owner" })
  const made = await owner.send("POST", `${ORGANIZATION}/members/invite`, { email: "new@example.com", role: "viewer" })
  expect(made.status).toBe(201)
  const withdrawn = (made.body.link as string).split("/").at(-1)!
  await owner.send("DELETE", `${ORGANIZATION}/invitations/${made.body.id}`)
  const unknown = "A".repeat(withdrawn.length)
  const reset = (token: string) => workOf(() => anonymousBrowser().post("/auth/reset", { token, password: "another long password" }))
  const offer = (token: string) => workOf(() => anonymousBrowser().get(`/invitations/${token}`))
  const never = await offer(unknown)
  expect(never).toMatchObject({ status: 404, body: { code: "invitation_not_found" } })
  expect(await offer(withdrawn)).toEqual(never)
  const none = await reset(unknown)
  expect(none).toMatchObject({ status: 422, body: { code: "token_invalid" } })
  // An invitation token is not valid for resetting a password.
  expect(await reset(withdrawn)).toEqual(none)
})
