import { definePlugin } from "#plugin"
import { plugins as programPlugins } from "../../../plugins/index.ts"
import type { Role } from "../../../src/domain/organization.ts"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { insertMembership } from "../../../src/store/catalog/members.ts"
import { sql } from "../../../src/store/sql.ts"
import { type Answer, cookieOf, passwordHash, type SignInAs, startInstance, type TestInstance } from "../../kit.ts"
import { type SmtpServer, smtpServer } from "../../services/mail/smtp-server.ts"
import { type Declared, operationsIn, PRIVATE_DOCUMENT_PATH } from "../openapi/document.ts"
import { identityProvider } from "./sign-in/identity-provider.ts"

/** Base URL of the instances in these tests. */
export const BASE = "http://localhost:9000"
export const PASSWORD = "a fine long password"

/** An instance with everything that private routes depend on: a mail server, an identity provider, and a high rate limit. */
export interface World extends AsyncDisposable {
  instance: TestInstance
  provider: ReturnType<typeof identityProvider>
  document: OpenApiDocument
  operations: readonly Declared[]
  passwordHash: string
  /** Returns the token of the last link mailed to an address. */
  mailedToken(address: string): Promise<string>
}

export async function openWorld(settings: Record<string, string> = {}): Promise<World> {
  const mail = await smtpServer()
  const now = Date.parse("2026-11-21T12:00:00Z")
  const provider = identityProvider({ now: () => now })
  const plugins = [...programPlugins, SPARE]
  const instance = await startInstance({ settings: { ...settingsOf(mail, provider), ...settings }, plugins })
  // Durability is not needed, and thousands of small writes are faster without syncing.
  await instance.app.instance.catalog.run(sql`pragma synchronous = off`)
  await instance.app.instance.settings.change({ organization_creation: "users" }, null)
  // The first run creates the schedules.
  await instance.runJobs()
  const cookie = await instance.signIn({ isInstanceAdmin: true })
  const document = (await instance.api.get(PRIVATE_DOCUMENT_PATH, undefined, { cookie })).body as OpenApiDocument
  return {
    instance,
    provider,
    document,
    operations: operationsIn(document),
    passwordHash: await passwordHash(PASSWORD),
    async mailedToken(address) {
      const { background, mail: post } = instance.app.instance.accounts
      await background.settled()
      await post.deliver()
      const letter = mail.mails.findLast(({ to }) => to.includes(address))
      return /https?:\/\/\S+/.exec(letter!.text)![0].split("/").at(-1)!
    },
    async [Symbol.asyncDispose]() {
      await instance[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
      await mail[Symbol.asyncDispose]()
    },
  }
}

/** A plugin to be switched on and off. */
const SPARE = definePlugin({ id: "spare", title: "Spare", setup: () => ({}) })

const settingsOf = (mail: SmtpServer, provider: ReturnType<typeof identityProvider>) => ({
  base_url: BASE,
  private_rate: "100000",
  smtp_host: "127.0.0.1",
  smtp_port: String(mail.port),
  smtp_security: "none",
  oidc_issuer: provider.issuer,
  oidc_client_id: provider.clientId,
  oidc_client_secret: provider.clientSecret,
})

/** Kinds of callers, in the words of the specification's matrix. */
export const KINDS = [
  "no session",
  "bearer key",
  "viewer",
  "editor",
  "admin",
  "owner",
  "guest of this site",
  "guest of another site",
  "member of another organization",
  "instance admin",
] as const
export type Kind = (typeof KINDS)[number]

/** A signed-in user of a test. */
export interface Person {
  id: number
  email: string
  cookie: string
}

/** The context of one call: where it happens, who makes it, and who prepares it. */
export interface Scene {
  world: World
  kind: Kind
  organization: number
  site: number
  /** The caller; created on first use, with the rights of the kind in this organization and site. */
  caller(): Promise<Person>
  /** The owner of the organization. */
  organizationOwner(): Promise<Person>
  /** An instance admin who belongs to no organization. */
  instanceAdmin(): Promise<Person>
  /** Creates another user with rights in the organization. */
  createUser(as?: SignInAs): Promise<Person>
  /** Returns the cookie of a read-only impersonation. */
  impersonating(by: Person, user: Person): Promise<string>
  /** Adds a user to another organization. */
  join(who: Person, organizationId: number, role?: Role): Promise<void>
  /** Moves the scene to a new organization and site, for irreversible calls. */
  moveApart(): Promise<void>
  /** Sends a preparing call that must succeed, and returns its body. */
  prepare(who: Person, method: string, path: string, body?: unknown): Promise<Json>
}

// biome-ignore lint/suspicious/noExplicitAny: answers that a recipe takes an id or a token from
export type Json = any

let words = 0
/** Returns a unique word. */
export const fresh = (word: string): string => `${word}-${++words}`

const instanceAdmins = new WeakMap<World, Preparer>()
const organizationOwners = new WeakMap<World, Map<number, Preparer>>()
type Preparer = Person & { since: number }
/** Preparing users need a recent proof of identity, which expires after ten minutes. */
const GOOD_FOR_MS = 5 * 60_000

export function sceneOf(world: World, kind: Kind, where: { organization?: number; site?: number } = {}): Scene {
  const { instance } = world
  const { now } = instance.clock
  let caller: Promise<Person> | undefined
  const scene: Scene = {
    world,
    kind,
    organization: where.organization ?? 1,
    site: where.site ?? 1,
    caller: () => {
      caller ??= callerOf(scene)
      return caller
    },
    createUser: (as = {}) => signedIn(world, { organizationId: scene.organization, siteId: scene.site, ...as }),
    async organizationOwner() {
      const known = organizationOwners.get(world) ?? new Map<number, Preparer>()
      organizationOwners.set(world, known)
      const present = known.get(scene.organization)
      if (present && now() - present.since < GOOD_FOR_MS) return present
      const organizationOwner = { ...(await scene.createUser({ role: "owner" })), since: now() }
      known.set(scene.organization, organizationOwner)
      return organizationOwner
    },
    async instanceAdmin() {
      const present = instanceAdmins.get(world)
      if (present && now() - present.since < GOOD_FOR_MS) return present
      const instanceAdmin = { ...(await signedIn(world, { isInstanceAdmin: true })), since: now() }
      instanceAdmins.set(world, instanceAdmin)
      return instanceAdmin
    },
    impersonating: (by, user) => impersonating(world, by, user, "read_only"),
    async join({ id: userId }, organizationId, role = "viewer") {
      await insertMembership(instance.app.instance.catalog, { organizationId, userId, role, now: instance.clock.now() })
    },
    async moveApart() {
      const { organizations, sites } = instance.app.instance
      scene.organization = (await organizations.create({ name: fresh("Apart") })).id
      scene.site = (await sites.create(scene.organization, { name: fresh("Apart"), hosts: [`${fresh("apart")}.example`] })).id
    },
    async prepare(who, method, path, body) {
      const answer = await send(world, method, `/api/private${path}`, { cookie: who.cookie, body })
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
  }
  return scene
}

async function callerOf({ world, kind, organization, site }: Scene): Promise<Person> {
  const here = { organizationId: organization, siteId: site }
  if (kind === "no session" || kind === "bearer key") return { id: 0, email: "", cookie: "" }
  if (kind === "instance admin") return signedIn(world, { isInstanceAdmin: true })
  if (kind === "guest of this site") return signedIn(world, { ...here, role: "guest", siteRole: "viewer" })
  if (kind === "guest of another site") {
    const { sites } = world.instance.app.instance
    const other = await sites.create(organization, { name: fresh("Other"), hosts: [`${fresh("other")}.example`] })
    return signedIn(world, { ...here, siteId: other.id, role: "guest", siteRole: "admin" })
  }
  if (kind === "member of another organization") {
    const other = await world.instance.app.instance.organizations.create({ name: fresh("Elsewhere") })
    // A second owner, because the last owner may not leave.
    await signedIn(world, { organizationId: other.id, role: "owner" })
    return signedIn(world, { organizationId: other.id, role: "owner" })
  }
  return signedIn(world, { ...here, role: kind })
}

/** Signs in a new user with the shared password. */
export async function signedIn(world: World, as: SignInAs): Promise<Person> {
  const cookie = await world.instance.signIn(as)
  const { catalog } = world.instance.app.instance
  const user = (await catalog.get<{ id: number; email: string }>(sql`select id, email from users order by id desc limit 1`))! // just made
  await catalog.run(sql`update users set password_hash = ${world.passwordHash} where id = ${user.id}`)
  return { ...user, cookie }
}

/** Returns the cookie of a session that impersonates a user. */
export async function impersonating({ instance }: World, by: Person, user: Person, mode: "read_only" | "full"): Promise<string> {
  const { catalog, sessions, cookieSecrets } = instance.app.instance
  const impersonation = { by: by.id, mode, reason: "help", minutes: 30 }
  const client = { userAgent: "", ipPrefix: "" }
  const { token } = await catalog.transaction((statements) =>
    sessions.create(statements, user, { method: "impersonation", mfa: true, client, impersonation }),
  )
  return cookieOf(token, cookieSecrets)
}

export interface Sending {
  cookie?: string
  key?: string
  body?: unknown
  headers?: Record<string, string>
}

let callers = 0
/** Repeated failures are throttled by address, which these tests do not cover. */
const newAddress = () => `10.${++callers >> 16}.${(callers >> 8) & 255}.${callers & 255}`

/** Sends a request. Of an event stream, only the headers are read. */
export async function send(
  { instance }: Pick<World, "instance">,
  method: string,
  path: string,
  { cookie, key, body, headers }: Sending = {},
): Promise<Answer & { text: string; bytes: Uint8Array }> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array || body instanceof FormData
  const going = new AbortController()
  const request = new Request(BASE + path, {
    method,
    signal: going.signal,
    headers: {
      ...(cookie && { cookie }),
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && !(body instanceof FormData) && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
  })
  const response = await instance.fetch(request, newAddress())
  const type = response.headers.get("content-type") ?? ""
  if (type.startsWith("text/event-stream")) {
    await response.body?.cancel()
    going.abort()
    return { status: response.status, headers: response.headers, body: "", text: "", bytes: new Uint8Array() }
  }
  const bytes = await response.bytes()
  const text = new TextDecoder().decode(bytes)
  const isJson = /^application\/([a-z]+\+)?json/.test(type)
  return { status: response.status, headers: response.headers, body: isJson && text !== "" ? JSON.parse(text) : text, text, bytes }
}

export const codeOf = ({ body }: Answer): string | undefined => (body as { code?: string } | undefined)?.code
