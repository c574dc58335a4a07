import { afterAll, expect, test } from "bun:test"
import fc from "fast-check"
import { bySize, SEED } from "../../../size.ts"
import { answerChecker, type Declared } from "../../openapi/document.ts"
import { type FuzzCall, fuzzCalls } from "../../openapi/fuzz-calls.ts"
import { codeOf, openWorld, type Person, type Scene, sceneOf, send, signedIn, type World } from "../scene.ts"
import { preparedCall, shortName } from "./recipes.ts"
import { THINGS } from "./things.ts"

/**
 * Calls of all private routes, generated from the document: valid, mutated, and wild, sent by a user with all permissions.
 */
const CALLS = bySize({ check: 500, full: 1_500, release: 100_000 })

interface Stage extends AsyncDisposable {
  world: World
  master: Person
  isWell(): Promise<boolean>
}

/** Creates an instance with resources of every kind, and a user who owns all of it. */
async function openStage(): Promise<Stage> {
  const world = await openWorld()
  const { organizations, sites } = world.instance.app.instance
  const master = await signedIn(world, { role: "owner", isInstanceAdmin: true })
  const scene: Scene = { ...sceneOf(world, "owner"), caller: async () => master, organizationOwner: async () => master }
  for (const name of ["Second", "Third"]) {
    const { id } = await organizations.create({ name })
    await sites.create(id, { name, hosts: [`${name.toLowerCase()}.example`] })
    await scene.join(master, id, "owner")
  }
  for (const [name, make] of Object.entries(THINGS)) if (!TEXTS[name]) for (let n = 0; n < 2; n++) await make(scene)
  await world.instance.collect({ n: "pageview", u: "https://shop.example/pricing", d: world.instance.site.tracking_id })
  const { cookie } = master
  return {
    world,
    master,
    async isWell() {
      const answers = await Promise.all(
        ["/sites/1/settings", "/organizations/2", "/admin/maintenance"].map((path) =>
          send(world, "GET", `/api/private${path}`, { cookie }),
        ),
      )
      return answers.every(({ status }) => status === 200)
    },
    async [Symbol.asyncDispose]() {
      const { lines } = world.instance.log
      await world[Symbol.asyncDispose]()
      expect(lines.filter(({ level }) => level === "error")).toEqual([])
    },
  }
}

/** Values of path parameters that are not numbers. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  provider: ["oidc", "oidc", "nobody"],
  token: ["AAAA", "x".repeat(43)],
  name: ["core.make-backup", "nothing"],
  backup_id: ["2026-11-21T12-00-00Z", "x"],
}

let stage = await openStage()
afterAll(() => stage[Symbol.asyncDispose]())
const { document, operations } = stage.world

// The set-up is permanently closed, and event streams do not end.
const operationsToCall = operations.filter((operation) => !["POST /setup", "GET /sites/{site}/live"].includes(shortName(operation)))

/** Bodies that succeed only once. */
const examples = new Map<Declared, unknown>()
for (const operation of operationsToCall) {
  const kind = operation.permission === "instance_admin" ? "instance admin" : "owner"
  if (Object.keys(operation.bodies).length > 0) examples.set(operation, (await preparedCall(operation, sceneOf(stage.world, kind))).body)
}
// Creating the resources has changed these.
await stage[Symbol.asyncDispose]()
stage = await openStage()

/** The first resource of each kind is never deleted, because most calls use it. */
function idOf({ method, ids, gate }: Declared, id: string): fc.Arbitrary<string> {
  const texts = TEXTS[id]
  if (texts) return fc.constantFrom(...texts)
  const isRisky = method !== "GET" && id === ids.at(-1) && (method === "DELETE" || gate.sudo || gate.ask === "instance_admin")
  return (isRisky ? fc.integer({ min: 2, max: 6 }) : fc.constantFrom(1, 1, 1, 1, 2, 3, 999)).map(String)
}

const SECRET_COOKIE = /sid=([^;]+)/

async function answerOf({ operation, method, path, headers, body }: FuzzCall) {
  // Operations on the user's own account are sent as a disposable user.
  const isOwn = operation.gate.ask === "self" || operation.gate.ask === "open"
  const { cookie } = isOwn && method !== "GET" ? await signedIn(stage.world, {}) : stage.master
  const { cookie: spoiledCookie, ...others } = headers
  const answer = await send(stage.world, method, path, { cookie: spoiledCookie ?? cookie, body, headers: others })
  return { ...answer, cookie }
}

/** Rules beyond the document: an error does not echo secrets or reveal internals, and carries the request id. */
function faultsOfError({ status, headers, text, body, cookie }: Awaited<ReturnType<typeof answerOf>>): string[] {
  if (status < 400) return []
  const { request_id, code } = body as { request_id?: string; code?: string }
  return [
    ...(headers.get("content-type") === "application/problem+json" ? [] : ["no problem+json"]),
    ...(request_id === headers.get("x-request-id") ? [] : ["another request id than in the header"]),
    ...(text.includes(SECRET_COOKIE.exec(cookie)![1]!) ? ["a secret is echoed"] : []),
    ...(/\bselect\b.*\bfrom\b|\bat .*\.ts:\d+|\/src\//i.test(text) ? ["insides are told"] : []),
    ...(code ? [] : ["no code"]),
  ]
}

// These succeed only after a preceding call.
const NEVER_GOOD = `
POST /auth/mfa · POST /auth/passkey/verify · POST /auth/reset · POST /auth/email/undo · POST /auth/oidc/link · POST /auth/login ·
POST /me/email/confirm · POST /me/leave · POST /me/totp/confirm · POST /me/totp/disable · POST /me/recovery-codes ·
PATCH /me/passkeys/{passkey_id} · DELETE /me/passkeys/{passkey_id} · DELETE /me/sessions/{session_id} · DELETE /organizations/{organization} ·
POST /organizations/{organization}/domains/{domain_id}/verify · POST /organizations/{organization}/invitations/{invitation_id}/resend ·
GET /invitations/{token} · POST /invitations/{token}/accept · POST /sites/{site}/restore · POST /sites/{site}/transfer ·
POST /sites/{site}/erase · GET /sites/{site}/erase/{erase_id} · POST /sites/{site}/reset · GET /sites/{site}/takeout/{takeout_id} ·
GET /sites/{site}/takeout/{takeout_id}/file · DELETE /admin/organizations/{organization_id} · POST /admin/sites/{site_id}/restore ·
POST /sites/{site}/pixels/{pixel_id}/restore · GET /admin/jobs/{job_id} · POST /admin/jobs/{job_id}/cancel · POST /admin/jobs/{job_id}/retry ·
PATCH /admin/schedules/{name} · POST /admin/schedules/{name}/run · POST /admin/backups/upload · GET /admin/backups/{backup_id} ·
GET /admin/backups/{backup_id}/download · DELETE /admin/backups/{backup_id} · POST /admin/backups/{backup_id}/verify ·
POST /admin/backups/{backup_id}/restore`
  .split("·")
  .map((name) => name.trim())

test(
  "every response to any request is one that the document declares",
  async () => {
    const faultsOf = answerChecker(document)
    const seen = new Map<string, Set<string>>(operationsToCall.map((operation) => [shortName(operation), new Set()]))
    const calls = fuzzCalls(document, operationsToCall, { idOf, exampleOf: (operation) => examples.get(operation) })
    await fc.assert(
      fc.asyncProperty(calls, async (call) => {
        const answer = await answerOf(call)
        seen.get(shortName(call.operation))!.add(answer.status < 400 ? "good" : "refused")
        const faults = [
          ...faultsOf(call.operation, answer),
          ...faultsOfError(answer),
          ...(answer.status >= 500 && codeOf(answer) !== "maintenance" ? ["it failed"] : []),
        ]
        if (faults.length > 0) throw new Error(`${answer.status} ${faults.join("; ")}\n${answer.text.slice(0, 500)}`)
        if (call.method === "GET" || answer.status >= 400 || (await stage.isWell())) return
        // Some calls lock their user out; the run then continues in a new instance.
        await stage[Symbol.asyncDispose]()
        stage = await openStage()
      }),
      { seed: SEED, numRuns: CALLS },
    )
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    // Nearly every operation must accept some calls and reject some; otherwise they are too valid or too broken to prove anything.
    const tame = [...seen].filter(([name, kinds]) => !kinds.has("refused") || (!kinds.has("good") && !NEVER_GOOD.includes(name)))
    if (CALLS >= 10_000) expect(tame.map(([name]) => name).slice(Math.ceil(operationsToCall.length / 20))).toEqual([])
  },
  60_000 + CALLS * 20,
)
