import { AppError, siteNotFound } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { ApiKey } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import type { Organization } from "../../domain/organization.ts"
import type { Shield } from "../../domain/shield.ts"
import type { Site } from "../../domain/site.ts"
import { snippetOf } from "../../domain/snippet.ts"
import type { User } from "../../domain/user.ts"
import { FIRST_ORGANIZATION, type Setup } from "../accounts/setup.ts"
import { type UserOperations, type UserOperationsOptions, userOperations } from "../accounts/user-operations.ts"
import type { Keys } from "../api-keys/api-keys.ts"
import { type Audit, recorded } from "../audit/audit.ts"
import { backupEntry, keyEntry, organizationEntry, shieldEntry, siteEntry } from "../audit/entries.ts"
import type { Backups } from "../backup/backup.ts"
import type { DamagedBackup, Manifest } from "../backup/folder.ts"
import { createSiteShields, type InstanceShields } from "../definitions/shields.ts"
import type { ConsoleRetention } from "../erasure/retention.ts"
import type { RetentionPreview } from "../erasure/retention-count.ts"
import type { Takeout } from "../export/takeout.ts"
import type { KeyRotation, RotationResult } from "../key-rotation/key-rotation.ts"
import type { Organizations } from "../organizations/organizations.ts"
import type { Report } from "../runtime/control.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { Health, HealthReport } from "../runtime/health.ts"
import type { Sites } from "../sites/sites.ts"
import type { Check } from "./doctor.ts"

export interface OperationsOptions extends UserOperationsOptions {
  sites: Sites
  keys: Keys
  organizations: Organizations
  setup: Pick<Setup, "byOperator">
  audit: Audit
  backups: Backups
  instanceShields: InstanceShields
  health: Pick<Health, "report" | "warnings">
  retention: Pick<ConsoleRetention, "preview" | "runNow">
  keyRotation: Pick<KeyRotation, "rotate" | "export">
  examine(report: Report): Promise<Check[]>
  now(): number
  /** Where pages load the tracker from. */
  scriptUrl(): string
  takeOut(site: Site, path: string): Promise<Takeout>
}

/** Names an owner: its id or its name. Absent: the only one there is. */
interface OfOrganization {
  organization?: string | undefined
}

interface NewKey {
  name: string
  scopes: string[]
  /** Null: all sites. */
  site_ids: number[] | null
  /** Null: never. */
  expires_days: number | null
  /** Empty: from every address. */
  ip_allow: string[]
  /** Requests per minute; null: as the instance allows. */
  rate_limit: number | null
}

type Shown = { site: Site; snippet: string }

/**
 * What the command line may ask of an instance, by name. The same functions run in the serving process, when there is one,
 * and in the command's own; inputs and outputs are plain values, because they travel.
 */
export interface Operations extends UserOperations {
  "site.create"(input: OfOrganization & { site: unknown }): Promise<Shown>
  "site.list"(input: OfOrganization): Promise<Site[]>
  "site.show"(input: { id: string }): Promise<Shown>
  /** A merge patch of the site and its settings. */
  "site.set"(input: { id: string; patch: object }): Promise<Shown>
  "site.delete"(input: { id: string }): Promise<void>
  /** All of a site into a new file on the machine of the instance. */
  "site.export"(input: { id: string; path: string }): Promise<Takeout>
  /** With a site its own shields, without one those of the instance. */
  "shield.list"(input: { site?: string | undefined }): Promise<readonly Shield[]>
  "shield.add"(input: { site?: string | undefined; shield: object }): Promise<Shield>
  /** A merge patch. */
  "shield.set"(input: { site?: string | undefined; id: string; patch: object }): Promise<Shield>
  "shield.remove"(input: { site?: string | undefined; id: string }): Promise<void>
  /** The owner by address. */
  "organization.create"(input: { name: string; owner: string }): Promise<Organization>
  "organization.list"(input: object): Promise<Organization[]>
  "key.create"(input: OfOrganization & NewKey): Promise<Omit<ApiKey, "key"> & { key: string }>
  "key.list"(input: OfOrganization): Promise<ApiKey[]>
  "key.rotate"(input: { id: string; grace_hours?: number }): Promise<ApiKey & { key: string }>
  "key.revoke"(input: { id: string }): Promise<ApiKey>
  setup(input: { email: string; name: string; organization: string; password: string }): Promise<{ user: User; organization: string }>
  "backup.create"(input: { label?: string; passphrase?: string }, report: Report): Promise<Manifest>
  /** Oldest first, damaged ones among them. */
  "backup.list"(input: object): Promise<(Manifest | DamagedBackup)[]>
  "backup.verify"(input: { id: string; full: boolean }, report: Report): Promise<Manifest>
  /** The key that seals secrets, in base64. */
  "secrets.export-key"(input: object): Promise<{ secret_key: string }>
  "secrets.rotate"(input: object): Promise<RotationResult>
  /** As `/health` says it, with what wants attention besides. */
  health(input: object): Promise<HealthReport & { warnings: HealthReport["reasons"] }>
  /** `{site_id?, retention_days?}`: what is over its time, counted or removed. */
  "retention.preview"(input: object): Promise<RetentionPreview>
  "retention.run"(input: object, report: Report): Promise<{ visits: number }>
  doctor(input: object, report: Report): Promise<Check[]>
}

export function createOperations(options: OperationsOptions): Operations {
  const { sites, keys, users, backups, organizations, audit, actor } = options
  const noted = (verb: string) => ({ alongside: recorded(audit, actor, keyEntry(verb)) })
  const notedOnSite = (verb: string) => recorded(audit, actor, siteEntry(`sites.site.${verb}`))
  const siteShields = createSiteShields(sites)
  const shields = (site: string | undefined) => (site === undefined ? options.instanceShields : siteShields.of(siteId(site)))
  const notedShield = async (verb: string, site: string | undefined) =>
    recorded<Shield>(audit, actor, shieldEntry(verb, site === undefined ? undefined : await sites.get(siteId(site))))
  const shown = (site: Site): Shown => ({ site, snippet: snippetOf(site, options.scriptUrl()) })
  return {
    ...userOperations(options),
    "site.create": async ({ organization, site }) =>
      shown(await sites.create(await ownerOf(options, organization), site, notedOnSite("create"))),
    async "site.list"({ organization }) {
      const lists = await Promise.all((await ownersOf(organizations, organization)).map((id) => sites.list(id)))
      return lists.flat().sort((left, right) => left.id - right.id)
    },
    "site.show": async ({ id }) => shown(await sites.get(siteId(id))),
    "site.set": async ({ id, patch }) => shown(await sites.configure(siteId(id), patch, { alongside: notedOnSite("update") })),
    "site.delete": async ({ id }) => sites.remove(siteId(id), { alongside: notedOnSite("delete") }),
    "site.export": async ({ id, path }) => takeOutInto(options, await sites.get(siteId(id)), path),
    "shield.list": async ({ site }) => shields(site).current(),
    "shield.add": async ({ site, shield }) => shields(site).add(shield, await notedShield("create", site)),
    "shield.set": async ({ site, id, patch }) =>
      shields(site).update(shieldId(id), patch, { alongside: await notedShield("update", site) }),
    "shield.remove": async ({ site, id }) => shields(site).remove(shieldId(id), { alongside: await notedShield("delete", site) }),
    async "organization.create"({ name, owner }) {
      const user = await users.byEmail(owner)
      if (user?.status !== "active") throw new AppError("user_not_found", `There is no active user with the email address ${owner}.`)
      return organizations.create({ name }, { owner: user.id, alongside: recorded(audit, actor, organizationEntry("create")) })
    },
    "organization.list": () => organizations.list(),
    async "key.create"({ organization, expires_days, site_ids, ...fields }) {
      const owner = await ownerOf(options, organization)
      const expires_at = expires_days === null ? null : instantText(options.now() + expires_days * 86_400_000)
      const site_access = site_ids === null ? "all" : "list"
      const { key, secret } = await keys.create(owner, { ...fields, site_access, site_ids, expires_at }, noted("create"))
      return { ...key, key: secret }
    },
    async "key.list"({ organization }) {
      return (await Promise.all((await ownersOf(organizations, organization)).map((id) => keys.list(id)))).flat()
    },
    async "key.rotate"({ id, ...body }) {
      const { key, secret } = await keys.rotate(await ownerOfKey(options, id), id, body, noted("rotate"))
      return { ...key, key: secret }
    },
    "key.revoke": async ({ id }) => keys.revoke(await ownerOfKey(options, id), id, noted("revoke")),
    async setup(input) {
      const { user, organization } = await options.setup.byOperator(input, options.actor)
      return { user, organization: organization.name }
    },
    async "backup.create"(terms, report) {
      const made = await backups.create("manual", report, terms).catch(async (error) => {
        await audit.writeAlone(actor, { ...backupEntry("create", { id: "", label: terms.label ?? "" }), outcome: "failed" })
        throw error
      })
      await audit.writeAlone(actor, backupEntry("create", made))
      return made
    },
    async "backup.list"() {
      const all = [...(await backups.list()), ...(await backups.listDamaged())]
      return all.sort((left, right) => left.created_at.localeCompare(right.created_at))
    },
    async "backup.verify"({ id, full }, report) {
      const looked = await backups.verify(id, { full }, report)
      await audit.writeAlone(actor, { ...backupEntry("verify", looked), outcome: looked.failed_at ? "failed" : "ok" })
      return looked
    },
    "secrets.export-key": async () => ({ secret_key: await options.keyRotation.export(actor) }),
    "secrets.rotate": () => options.keyRotation.rotate(actor),
    health: async () => ({ ...options.health.report(), warnings: options.health.warnings() }),
    "retention.preview": (input) => options.retention.preview(input),
    "retention.run": async (input, report) => ({ visits: await options.retention.runNow(options.actor, input, report) }),
    doctor: (_, report) => options.examine(report),
  }
}

/** A file that is there already stays what it is. */
async function takeOutInto({ takeOut }: OperationsOptions, site: Site, path: string): Promise<Takeout> {
  try {
    return await takeOut(site, path)
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    if (code === "EEXIST") throw new ExitFault("usage", `${path} is there already`)
    if (code === "ENOENT" || code === "EACCES") throw new ExitFault("usage", `${path} cannot be written`)
    throw error
  }
}

/** Runs the operation of this name; the command line of this version knows no others. */
export function runOperation(operations: Operations, name: string, input: unknown, report: Report): Promise<unknown> {
  if (!Object.hasOwn(operations, name)) throw new ExitFault("usage", `The running Footfall does not know ${name}: it is of another version`)
  // The name has just been looked up, and our own command line sends the input of its kind.
  const run = operations[name as keyof Operations] as (input: unknown, report: Report) => Promise<unknown>
  return run(input, report)
}

/** The owner of a new thing. On an instance without any, the first one is made: nobody has to know of owners to begin. */
async function ownerOf(options: OperationsOptions, named: string | undefined): Promise<number> {
  const { organizations, audit, actor } = options
  const [only, ...others] = await ownersOf(organizations, named)
  if (only === undefined) {
    const made = await organizations.createFirst({ name: named ?? FIRST_ORGANIZATION }, recorded(audit, actor, organizationEntry("create")))
    // Somebody was faster, such as whoever sets the instance up: theirs is the one.
    return made ? made.id : ownerOf(options, named)
  }
  if (others.length > 0) throw new ExitFault("usage", "There are several organizations: name one with --organization")
  return only
}

async function ownersOf(organizations: Organizations, named: string | undefined): Promise<number[]> {
  const all = await organizations.list()
  const found = named === undefined ? all : all.filter(({ id, name }) => String(id) === named || name === named)
  if (found.length === 0 && named !== undefined && all.length > 0) throw new AppError("not_found", `There is no organization ${named}.`)
  return found.map(({ id }) => id)
}

async function ownerOfKey({ organizations, keys }: OperationsOptions, id: string): Promise<number> {
  for (const owner of await ownersOf(organizations, undefined))
    if ((await keys.list(owner)).some((key) => String(key.id) === id)) return owner
  throw new AppError("not_found", `There is no API key ${id}.`)
}

function siteId(text: string): number {
  const id = parseId(text)
  if (id === undefined) throw siteNotFound()
  return id
}

function shieldId(text: string): number {
  const id = parseId(text)
  if (id === undefined) throw new AppError("not_found", `Shield ${text} does not exist.`)
  return id
}
