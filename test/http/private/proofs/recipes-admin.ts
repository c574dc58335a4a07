import { fresh, PASSWORD, type Person, type Scene, send, signedIn } from "../scene.ts"
import type { Recipe } from "./recipes.ts"
import { disputedHost, THINGS } from "./things.ts"

const user = (verb: string) => ({ auditEntry: { action: `admin.user.${verb}`, target: ["user"] } }) as const

/** Creates a user and applies operations to them, because `enable`, for one, otherwise has no effect. */
async function userAfter(scene: Scene, ...actions: readonly string[]): Promise<Person> {
  const who = await signedIn(scene.world, {})
  for (const auditEntry of actions) await scene.prepare(await scene.instanceAdmin(), "POST", `/admin/users/${who.id}/${auditEntry}`)
  return who
}

/** Switches the spare plugin to the opposite state each time. */
const toggled = ({ world }: Scene): boolean => !world.instance.app.instance.plugins.isOn("spare")

/** Creates an organization and a site that no other test uses. */
async function apart(scene: Scene) {
  await scene.moveApart()
  return { organization_id: scene.organization, site_id: scene.site }
}

const ofSite = (verb: string, { organization_id, site_id }: { organization_id: number; site_id: number }) =>
  ({ action: `admin.site.${verb}`, target: ["site", site_id], organization: organization_id, site: site_id }) as const
const ofOrganization = (verb: string, id: number) =>
  ({ action: `admin.organization.${verb}`, target: ["organization", id], organization: id }) as const

const ofDispute = (verb: string, host: string, organization: number) =>
  ({ action: `admin.host-dispute.${verb}`, target: ["host-dispute", host], organization }) as const

const nameOf = async (scene: Scene, organization: number): Promise<string> =>
  (await scene.prepare(await scene.instanceAdmin(), "GET", `/admin/organizations/${organization}`)).name

/** Creates a queued job, optionally cancelled. */
async function waitingJob(scene: Scene, isCancelled = false): Promise<number> {
  const { jobs } = scene.world.instance.app.instance
  const kind = (await scene.prepare(await scene.instanceAdmin(), "GET", "/admin/schedules")).data[0].name
  const job = (await jobs.enqueue({ kind, key: fresh("key"), runAt: scene.world.instance.clock.now() + 86_400_000 }))! // it has no slot
  if (isCancelled) await jobs.cancel(job.id)
  return job.id
}
/** The audit entries of a retention run. */
const RETAINED = ["admin.retention.begin", "admin.retention.end"]

let minGroup = 5
let daily = 7
const nextKeep = (): number => {
  daily = daily === 7 ? 8 : 7
  return daily
}
let minute = 0

/** Routes below `/admin`. */
export const ADMIN_RECIPES: Readonly<Record<string, Recipe>> = {
  "POST /admin/users": () => ({
    body: { email: `${fresh("new")}@example.com`, name: "New", password: PASSWORD },
    auditEntry: { action: "admin.user.create", target: ["user"], secrets: () => [PASSWORD] },
  }),
  "PATCH /admin/users/{user_id}": () => ({ body: { name: fresh("Name") }, ...user("update") }),
  "DELETE /admin/users/{user_id}": () => ({ body: {}, ...user("delete") }),
  "POST /admin/users/{user_id}/disable": () => user("disable"),
  "POST /admin/users/{user_id}/enable": async (scene) => ({ ids: { user_id: (await userAfter(scene, "disable")).id }, ...user("enable") }),
  "POST /admin/users/{user_id}/reset-password": () => user("reset-password"),
  "POST /admin/users/{user_id}/reset-mfa": () => user("reset-mfa"),
  "POST /admin/users/{user_id}/sign-out": () => user("sign-out"),
  "POST /admin/users/{user_id}/impersonate": () => ({ body: { reason: "They asked for help", minutes: 5 }, ...user("impersonate") }),
  "POST /admin/impersonation/stop": async (scene) => {
    const who = await signedIn(scene.world, {})
    const instanceAdmin = await scene.instanceAdmin()
    const cookie = await scene.impersonating(instanceAdmin, who)
    return { cookie, auditEntry: { action: "admin.user.impersonate-end", target: ["user", who.id], actor: who.id } }
  },
  "POST /admin/organizations": () => ({
    body: { name: fresh("Made") },
    auditEntry: { action: "admin.organization.create", target: ["organization"], organization: "made" },
  }),
  "PATCH /admin/organizations/{organization_id}": async (scene) => {
    const { organization_id } = await apart(scene)
    return { ids: { organization_id }, body: { name: fresh("Name") }, auditEntry: ofOrganization("update", organization_id) }
  },
  "DELETE /admin/organizations/{organization_id}": async (scene) => {
    const { organization_id } = await apart(scene)
    const confirm = await nameOf(scene, organization_id)
    return { ids: { organization_id }, body: { confirm }, auditEntry: ofOrganization("delete", organization_id) }
  },
  "PUT /admin/organizations/{organization_id}/members/{user}": async (scene) => {
    const { organization_id } = await apart(scene)
    const { id } = await signedIn(scene.world, {})
    const auditEntry = { action: "admin.member.put", target: ["user", id], organization: organization_id } as const
    return { ids: { organization_id, user: id }, body: { role: "owner" }, auditEntry }
  },
  "DELETE /admin/organizations/{organization_id}/members/{user}": async (scene) => {
    const { organization_id } = await apart(scene)
    const { id } = await scene.createUser({ role: "viewer" })
    const auditEntry = { action: "admin.member.remove", target: ["user", id], organization: organization_id } as const
    return { ids: { organization_id, user: id }, body: {}, auditEntry }
  },
  "POST /admin/sites/{site_id}/transfer": async (scene) => {
    const ids = await apart(scene)
    const { id } = await scene.world.instance.app.instance.organizations.create({ name: fresh("Other") })
    return { ids, body: { organization_id: id }, auditEntry: { ...ofSite("transfer", ids), organization: id } }
  },
  "POST /admin/sites/{site_id}/purge": async (scene) => {
    const ids = await apart(scene)
    return { ids, body: { before: "2026-01-01" }, auditEntry: { ...ofSite("purge", ids), work: RETAINED } }
  },
  "DELETE /admin/sites/{site_id}": async (scene) => {
    const ids = await apart(scene)
    return { ids, auditEntry: ofSite("delete", ids) }
  },
  "POST /admin/sites/{site_id}/restore": async (scene) => {
    const ids = await apart(scene)
    await scene.prepare(await scene.instanceAdmin(), "DELETE", `/admin/sites/${ids.site_id}`)
    return { ids, auditEntry: ofSite("restore", ids) }
  },
  "PUT /admin/host-disputes/{host}": async (scene) => {
    const { organization_id } = await apart(scene)
    const host = await disputedHost(scene)
    return { ids: { host }, body: { organization_id }, auditEntry: ofDispute("decide", host, organization_id) }
  },
  "DELETE /admin/host-disputes/{host}": async (scene) => {
    const { organization_id } = await apart(scene)
    const host = await disputedHost(scene)
    await scene.prepare(await scene.instanceAdmin(), "PUT", `/admin/host-disputes/${host}`, { organization_id })
    return { ids: { host }, auditEntry: ofDispute("withdraw", host, organization_id) }
  },
  "DELETE /admin/invitations/{invitation_id}": ({ organization }) => ({
    auditEntry: { action: "admin.invitation.delete", target: ["invitation"], organization },
  }),
  "POST /admin/api-keys/{api_key_id}/revoke": ({ organization }) => ({
    auditEntry: { action: "admin.key.revoke", target: ["api_key"], organization },
  }),
  "DELETE /admin/sessions/{session_id}": () => ({ auditEntry: { action: "admin.session.end", target: ["session"] } }),

  "POST /admin/storage/vacuum": () => ({
    body: { store: "catalog" },
    auditEntry: { action: "admin.store.vacuum", target: ["store", "catalog"], work: ["admin.store.vacuum-end"] },
  }),
  "POST /admin/storage/analyze": () => ({
    body: { store: "events" },
    auditEntry: { action: "admin.store.analyze", target: ["store", "events"], work: ["admin.store.analyze-end"] },
  }),
  "PUT /admin/retention": async (scene) => {
    const { organization_id, site_id } = await apart(scene)
    const auditEntry = {
      action: "admin.retention.update",
      target: ["site", site_id],
      organization: organization_id,
      site: site_id,
    } as const
    return { body: { sites: [{ site_id, retention_days: 400 }] }, auditEntry }
  },
  "POST /admin/retention/preview": () => ({ body: {}, silent: "It only counts." }),
  "POST /admin/retention/run": async (scene) => {
    const { organization_id, site_id } = await apart(scene)
    const target = ["site", site_id] as const
    const auditEntry = { action: "admin.retention.run", target, organization: organization_id, site: site_id, work: RETAINED }
    return { body: { site_id, retention_days: 400 }, auditEntry }
  },
  "POST /admin/jobs/{job_id}/cancel": async (scene) => ({
    ids: { job_id: await waitingJob(scene) },
    auditEntry: { action: "admin.job.cancel", target: ["job"] },
  }),
  "POST /admin/jobs/{job_id}/retry": async (scene) => ({
    ids: { job_id: await waitingJob(scene, true) },
    auditEntry: { action: "admin.job.retry", target: ["job"] },
  }),
  "GET /admin/jobs/{job_id}": async (scene) => ({ ids: { job_id: await waitingJob(scene) } }),
  "PATCH /admin/schedules/{name}": () => {
    minute = (minute + 1) % 60
    return { body: { cron: `${minute} 5 * * *` }, auditEntry: { action: "admin.schedule.update", target: ["schedule"] } }
  },
  "POST /admin/schedules/{name}/run": () => ({ auditEntry: { action: "admin.schedule.run", target: ["schedule"] } }),
  "POST /admin/backups": () => ({
    body: {},
    // The id is assigned when the backup is complete.
    auditEntry: { action: "admin.backup.create", target: ["backup", ""], work: ["admin.backup.create-end"] },
  }),
  "POST /admin/backups/upload": async (scene) => {
    const { cookie } = await scene.instanceAdmin()
    const id = await THINGS.backup_id!(scene)
    const { bytes } = await send(scene.world, "GET", `/api/private/admin/backups/${id}/download`, { cookie })
    return {
      body: bytes,
      headers: { "content-type": "application/x-tar" },
      auditEntry: { action: "admin.backup.upload", target: ["backup"] },
    }
  },
  "POST /admin/backups/{backup_id}/verify": () => ({
    body: {},
    auditEntry: { action: "admin.backup.verify", target: ["backup"], work: ["admin.backup.verify-end"] },
  }),
  "POST /admin/backups/{backup_id}/restore": async (scene) => ({
    ids: { backup_id: await THINGS.backup_id!(scene) },
    body: { confirm: "another one" },
    refused: { status: 422, code: "validation_failed" },
    silent: "The process would restart; this is tested separately.",
  }),
  "DELETE /admin/backups/{backup_id}": () => ({ auditEntry: { action: "admin.backup.delete", target: ["backup"] } }),
  "POST /admin/maintenance": () => ({
    body: { enabled: false },
    auditEntry: { action: "admin.maintenance.change", target: ["instance", "instance"] },
  }),
  "PATCH /admin/settings": () => {
    minGroup++
    return {
      body: { changes: { share_min_group: minGroup } },
      auditEntry: { action: "admin.setting.update", target: ["instance", "settings"] },
    }
  },
  "POST /admin/settings/smtp/test": () => ({ body: { to: "someone@example.com" }, silent: "It sends an email and changes nothing here." }),
  "POST /admin/settings/oidc/test": () => ({ body: { provider: "oidc" }, silent: "It calls the provider and changes nothing." }),
  "PUT /admin/backups/schedule": () => ({
    body: { cron: "30 4 * * *", keep: { daily: nextKeep(), weekly: 4 } },
    auditEntry: { action: "admin.backup.schedule", target: ["instance", "backups"] },
  }),
  "POST /admin/updates/check": () => ({
    refused: { status: 409, code: "invalid_state" },
    silent: "No address is configured; this is tested separately.",
  }),
  "POST /admin/notices/{notice_id}/dismiss": async ({ world }) => {
    const { alarms } = world.instance.app.instance
    await alarms.raise("backup_damaged", {})
    return { ids: { notice_id: (await alarms.list())[0]!.id }, auditEntry: { action: "admin.notice.dismiss", target: ["notice"] } }
  },
  "PATCH /admin/plugins": (scene) => ({
    body: { id: "spare", enabled: toggled(scene) },
    auditEntry: { action: "admin.plugin.update", target: ["plugin", "spare"] },
  }),
  "PATCH /admin/features": (scene) => ({
    body: { changes: { spare: toggled(scene) } },
    auditEntry: { action: "admin.plugin.update", target: ["plugin", "spare"] },
  }),
}
