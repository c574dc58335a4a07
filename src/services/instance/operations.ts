import { AppError, siteNotFound } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { ApiKey } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import type { Organization } from "../../domain/organization.ts"
import type { Shield } from "../../domain/shield.ts"
import { type Site, snippetOf } from "../../domain/site.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { forgetNode as forgetStoredNode } from "../../store/catalog/nodes.ts"
import { FIRST_ORGANIZATION, type Setup } from "../accounts/setup.ts"
import { type UserOperations, type UserOperationsOptions, userOperations } from "../accounts/users.ts"
import type { Keys } from "../api-keys/api-keys.ts"
import { type Audit, backupEntry, keyEntry, organizationEntry, recorded, shieldEntry, siteEntry } from "../audit/audit.ts"
import type { Backups } from "../backup/backup.ts"
import type { DamagedBackup, Manifest } from "../backup/folder.ts"
import { createSiteShields, type InstanceShields } from "../definitions/shields.ts"
import type { ConsoleRetention } from "../erasure/retention.ts"
import type { RetentionPreview } from "../erasure/retention-count.ts"
import type { Takeout } from "../export/takeout.ts"
import type { KeyRotation, RotationResult } from "../key-rotation/key-rotation.ts"
import type { Organizations } from "../organizations/organizations.ts"
import { callServer, type Report } from "../runtime/control.ts"
import { readRun } from "../runtime/data-folder.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { Health, HealthReport } from "../runtime/health.ts"
import { describeNodes, type ListedNode } from "../runtime/nodes.ts"
import type { Sites } from "../sites/sites.ts"
import type { Check } from "./doctor.ts"
import type { CommandInput, RunPluginCommand } from "./plugin-commands.ts"

export interface OperationsOptions extends UserOperationsOptions {
  catalog: Catalog
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
  /** Returns the URL of the tracker. */
  scriptUrl(): string
  takeOut(site: Site, path: string): Promise<Takeout>
  runPluginCommand: RunPluginCommand
}

/** Id or name of an organization. Default: the only one of the instance. */
interface OfOrganization {
  organization?: string | undefined
}

interface NewKey {
  name: string
  scopes: string[]
  /** Null means all sites. */
  site_ids: number[] | null
  /** Null means never. */
  expires_days: number | null
  /** Empty means all addresses. */
  ip_allow: string[]
  /** Requests per minute. Null means the limit of the instance. */
  rate_limit: number | null
}

type SiteWithSnippet = { site: Site; snippet: string }

/**
 * The operations that the command line can call, by name. They run in the serving process if there is one, otherwise in the process of
 * the command. Inputs and outputs are plain values, because they are sent between processes.
 */
export interface Operations extends UserOperations {
  "site.create"(input: OfOrganization & { site: unknown }): Promise<SiteWithSnippet>
  "site.list"(input: OfOrganization): Promise<Site[]>
  "site.show"(input: { id: string }): Promise<SiteWithSnippet>
  /** Applies a merge patch to the site and its settings. */
  "site.set"(input: { id: string; patch: object }): Promise<SiteWithSnippet>
  "site.delete"(input: { id: string }): Promise<void>
  /** Exports a whole site to a new file on the machine of the instance. */
  "site.export"(input: { id: string; path: string }): Promise<Takeout>
  /** Lists the shields of a site, or without a site those of the instance. */
  "shield.list"(input: { site?: string | undefined }): Promise<readonly Shield[]>
  "shield.add"(input: { site?: string | undefined; shield: object }): Promise<Shield>
  /** Applies a merge patch. */
  "shield.set"(input: { site?: string | undefined; id: string; patch: object }): Promise<Shield>
  "shield.remove"(input: { site?: string | undefined; id: string }): Promise<void>
  /** Creates an organization. The owner is named by email address. */
  "organization.create"(input: { name: string; owner: string }): Promise<Organization>
  "organization.list"(input: object): Promise<Organization[]>
  "key.create"(input: OfOrganization & NewKey): Promise<Omit<ApiKey, "key"> & { key: string }>
  "key.list"(input: OfOrganization): Promise<ApiKey[]>
  "key.rotate"(input: { id: string; grace_hours?: number }): Promise<ApiKey & { key: string }>
  "key.revoke"(input: { id: string }): Promise<ApiKey>
  setup(input: { email: string; name: string; organization: string; password: string }): Promise<{ user: User; organization: string }>
  "backup.create"(input: { label?: string; passphrase?: string }, report: Report): Promise<Manifest>
  /** Lists the backups, including damaged ones, the oldest first. */
  "backup.list"(input: object): Promise<(Manifest | DamagedBackup)[]>
  "backup.verify"(input: { id: string; full: boolean }, report: Report): Promise<Manifest>
  "node.list"(input: object): Promise<ListedNode[]>
  /** Gives up a node that will not return. Throws `not_found`, and `invalid_state` for one that is live or was forgotten. */
  "node.forget"(input: { number: number }): Promise<void>
  /** Returns the key that encrypts secrets, in base64. */
  "secrets.export-key"(input: object): Promise<{ secret_key: string }>
  "secrets.rotate"(input: object): Promise<RotationResult>
  /** Returns the report of `/health` and the warnings. */
  health(input: object): Promise<HealthReport & { warnings: HealthReport["reasons"] }>
  /** Counts the visits beyond the retention. The input is `{site_id?, retention_days?}`, as for `retention.run`, which removes them. */
  "retention.preview"(input: object): Promise<RetentionPreview>
  "retention.run"(input: object, report: Report): Promise<{ visits: number }>
  doctor(input: object, report: Report): Promise<Check[]>
  /** Runs a command of a plugin, in the serving process only. */
  "plugin.run"(input: CommandInput & { name: string }, report: Report, signal?: AbortSignal): Promise<unknown>
}

export function createOperations(options: OperationsOptions): Operations {
  const { sites, keys, users, backups, organizations, audit, actor } = options
  const auditedKey = (verb: string) => ({ alongside: recorded(audit, actor, keyEntry(verb)) })
  const auditedSite = (verb: string) => recorded(audit, actor, siteEntry(`sites.site.${verb}`))
  const siteShields = createSiteShields(sites)
  const shields = (site: string | undefined) => (site === undefined ? options.instanceShields : siteShields.of(siteId(site)))
  const auditedShield = async (verb: string, site: string | undefined) =>
    recorded<Shield>(audit, actor, shieldEntry(verb, site === undefined ? undefined : await sites.get(siteId(site))))
  const withSnippet = (site: Site): SiteWithSnippet => ({ site, snippet: snippetOf(site, options.scriptUrl()) })
  return {
    ...userOperations(options),
    "site.create": async ({ organization, site }) =>
      withSnippet(await sites.create(await ownerOf(options, organization), site, auditedSite("create"))),
    async "site.list"({ organization }) {
      const lists = await Promise.all((await ownersOf(organizations, organization)).map((id) => sites.list(id)))
      return lists.flat().sort((left, right) => left.id - right.id)
    },
    "site.show": async ({ id }) => withSnippet(await sites.get(siteId(id))),
    "site.set": async ({ id, patch }) => withSnippet(await sites.configure(siteId(id), patch, { alongside: auditedSite("update") })),
    "site.delete": async ({ id }) => sites.remove(siteId(id), { alongside: auditedSite("delete") }),
    "site.export": async ({ id, path }) => takeOutInto(options, await sites.get(siteId(id)), path),
    "shield.list": async ({ site }) => shields(site).current(),
    "shield.add": async ({ site, shield }) => shields(site).add(shield, await auditedShield("create", site)),
    "shield.set": async ({ site, id, patch }) =>
      shields(site).update(shieldId(id), patch, { alongside: await auditedShield("update", site) }),
    "shield.remove": async ({ site, id }) => shields(site).remove(shieldId(id), { alongside: await auditedShield("delete", site) }),
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
      const { key, secret } = await keys.create(owner, { ...fields, site_access, site_ids, expires_at }, auditedKey("create"))
      return { ...key, key: secret }
    },
    async "key.list"({ organization }) {
      return (await Promise.all((await ownersOf(organizations, organization)).map((id) => keys.list(id)))).flat()
    },
    async "key.rotate"({ id, ...body }) {
      const { key, secret } = await keys.rotate(await ownerOfKey(options, id), id, body, auditedKey("rotate"))
      return { ...key, key: secret }
    },
    "key.revoke": async ({ id }) => keys.revoke(await ownerOfKey(options, id), id, auditedKey("revoke")),
    async setup(input) {
      const { user, organization } = await options.setup.byOperator(input, options.actor)
      return { user, organization: organization.name }
    },
    async "backup.create"(terms, report) {
      const backup = await backups.create("manual", report, terms).catch(async (error) => {
        await audit.writeAlone(actor, { ...backupEntry("create", { id: "", label: terms.label ?? "" }), outcome: "failed" })
        throw error
      })
      await audit.writeAlone(actor, backupEntry("create", backup))
      return backup
    },
    async "backup.list"() {
      const all = [...(await backups.list()), ...(await backups.listDamaged())]
      return all.sort((left, right) => left.created_at.localeCompare(right.created_at))
    },
    async "backup.verify"({ id, full }, report) {
      const verified = await backups.verify(id, { full }, report)
      await audit.writeAlone(actor, { ...backupEntry("verify", verified), outcome: verified.failed_at ? "failed" : "ok" })
      return verified
    },
    "node.list": () => describeNodes(options.catalog),
    "node.forget": ({ number }) => forgetNode(options, number),
    "secrets.export-key": async () => ({ secret_key: await options.keyRotation.export(actor) }),
    "secrets.rotate": () => options.keyRotation.rotate(actor),
    health: async () => ({ ...options.health.report(), warnings: options.health.warnings() }),
    "retention.preview": (input) => options.retention.preview(input),
    "retention.run": async (input, report) => ({ visits: await options.retention.runNow(options.actor, input, report) }),
    doctor: (_, report) => options.examine(report),
    "plugin.run": ({ name, ...input }, report, signal = new AbortController().signal) =>
      options.runPluginCommand(name, input, report, signal),
  }
}

async function forgetNode({ catalog, audit, actor, now }: OperationsOptions, number: number): Promise<void> {
  const node = (await describeNodes(catalog)).find((each) => each.number === number)
  if (!node) throw new AppError("not_found", `There is no node ${number}.`)
  const refused = (state: string) => new AppError("invalid_state", `Node ${number} is ${state}.`, { state })
  if (node.state === "live" || node.state === "forgotten") throw refused(node.state)
  await catalog.transaction(async (statements) => {
    if (!(await forgetStoredNode(statements, number, now()))) throw refused("live")
    await audit.write(statements, actor, { action: "admin.node.forget", target: { type: "node", id: number, label: node.process } })
  })
}

/** Exports a site to a file. An existing file is not overwritten. */
async function takeOutInto({ takeOut }: OperationsOptions, site: Site, path: string): Promise<Takeout> {
  try {
    return await takeOut(site, path)
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    if (code === "EEXIST") throw new ExitFault("usage", `${path} already exists`)
    if (code === "ENOENT" || code === "EACCES") throw new ExitFault("usage", `${path} cannot be written`)
    throw error
  }
}

/** Runs an operation by name. The name is unknown only to a server of another version. */
export function runOperation(operations: Operations, name: string, input: unknown, report: Report, signal?: AbortSignal): Promise<unknown> {
  if (!Object.hasOwn(operations, name))
    throw new ExitFault("usage", `The running Footfall process has a different version and does not support ${name}`)
  // The name was checked above, and our own command line sends the matching input.
  const run = operations[name as keyof Operations] as (input: unknown, report: Report, signal?: AbortSignal) => Promise<unknown>
  return run(input, report, signal)
}

/** Returns the organization of a new site or key. Creates the first organization if the instance has none. */
async function ownerOf(options: OperationsOptions, named: string | undefined): Promise<number> {
  const { organizations, audit, actor } = options
  const [only, ...others] = await ownersOf(organizations, named)
  if (only === undefined) {
    const created = await organizations.createFirst(
      { name: named ?? FIRST_ORGANIZATION },
      recorded(audit, actor, organizationEntry("create")),
    )
    // If another process, such as the setup, created it first, that one is used.
    return created ? created.id : ownerOf(options, named)
  }
  if (others.length > 0) throw new ExitFault("usage", "The instance has several organizations. Choose one with --organization")
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

/** Calls an operation of an instance, in whichever process it runs. */
export type CallOperation = <Name extends keyof Operations>(
  name: Name,
  input: Parameters<Operations[Name]>[0],
) => Promise<Awaited<ReturnType<Operations[Name]>>>

export interface ReachOptions {
  dataDir: string
  report: Report
  /** Takes the lock and opens the stores. Rejects with `inUse` when another process uses them. */
  open(): Promise<{ operations: Operations; close(): Promise<void> }>
}

/** Number of attempts while another command, which runs only briefly, uses the folder. */
const MAX_ATTEMPTS = 50
const PAUSE_MS = 100

/** Runs work on an instance: in the serving process if there is one, otherwise in this process, which opens the stores meanwhile. */
export async function withOperations<T>(options: ReachOptions, work: (call: CallOperation) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inThisProcess(options, work)
    } catch (error) {
      if (!(error instanceof ExitFault) || error.exit !== "inUse") throw error
      const control = readRun(options.dataDir)?.control
      if (control !== undefined) return inServer(control, options.report, work)
      if (attempt === MAX_ATTEMPTS) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

async function inThisProcess<T>({ open, report }: ReachOptions, work: (call: CallOperation) => Promise<T>): Promise<T> {
  const { operations, close } = await open()
  try {
    // An operation returns the result of its name.
    return await work(((name, input) => runOperation(operations, name, input, report)) as CallOperation)
  } finally {
    await close()
  }
}

/** Runs work in the serving process. Results are sent as JSON, which preserves these plain values. */
const inServer = <T>(control: string, report: Report, work: (call: CallOperation) => Promise<T>): Promise<T> =>
  work(((name, input) => callServer(control, name, input, report)) as CallOperation)
