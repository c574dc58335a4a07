import { fresh, PASSWORD, type Person, type Scene, send, signedIn } from "../scene.ts"
import type { Recipe } from "./recipes.ts"
import { disputedHost, THINGS } from "./things.ts"

const user = (verb: string) => ({ deed: { action: `admin.user.${verb}`, target: ["user"] } }) as const

/** Somebody who wants it: `enable` has nothing to do otherwise, for one. */
async function userWho(scene: Scene, ...deeds: readonly string[]): Promise<Person> {
  const who = await signedIn(scene.world, {})
  for (const deed of deeds) await scene.prepare(await scene.chief(), "POST", `/admin/users/${who.id}/${deed}`)
  return who
}

/** The plugin that is there to be switched, the other way each time. */
const otherWay = ({ world }: Scene): boolean => !world.instance.app.instance.plugins.isOn("spare")

/** An organization and a site that nobody else's test needs. */
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
  (await scene.prepare(await scene.chief(), "GET", `/admin/organizations/${organization}`)).name

/** A job that waits, and perhaps was ended. */
async function waitingJob(scene: Scene, isCancelled = false): Promise<number> {
  const { jobs } = scene.world.instance.app.instance
  const kind = (await scene.prepare(await scene.chief(), "GET", "/admin/schedules")).data[0].name
  const job = (await jobs.enqueue({ kind, key: fresh("key"), runAt: scene.world.instance.clock.now() + 86_400_000 }))! // it has no slot
  if (isCancelled) await jobs.cancel(job.id)
  return job.id
}
/** Rows of a run of retention, by its job. */
const RETAINED = ["admin.retention.begin", "admin.retention.end"]

let minGroup = 5
let daily = 7
const nextKeep = (): number => {
  daily = daily === 7 ? 8 : 7
  return daily
}
let minute = 0

/** Below `/admin`. */
export const ADMIN_RECIPES: Readonly<Record<string, Recipe>> = {
  "POST /admin/users": () => ({
    body: { email: `${fresh("new")}@example.com`, name: "New", password: PASSWORD },
    deed: { action: "admin.user.create", target: ["user"], secrets: () => [PASSWORD] },
  }),
  "PATCH /admin/users/{user_id}": () => ({ body: { name: fresh("Name") }, ...user("update") }),
  "DELETE /admin/users/{user_id}": () => ({ body: {}, ...user("delete") }),
  "POST /admin/users/{user_id}/disable": () => user("disable"),
  "POST /admin/users/{user_id}/enable": async (scene) => ({ ids: { user_id: (await userWho(scene, "disable")).id }, ...user("enable") }),
  "POST /admin/users/{user_id}/reset-password": () => user("reset-password"),
  "POST /admin/users/{user_id}/reset-mfa": () => user("reset-mfa"),
  "POST /admin/users/{user_id}/sign-out": () => user("sign-out"),
  "POST /admin/users/{user_id}/impersonate": () => ({ body: { reason: "They asked for help", minutes: 5 }, ...user("impersonate") }),
  "POST /admin/impersonation/stop": async (scene) => {
    const who = await signedIn(scene.world, {})
    const chief = await scene.chief()
    const cookie = await scene.impersonating(chief, who)
    return { cookie, deed: { action: "admin.user.impersonate-end", target: ["user", who.id], actor: who.id } }
  },
  "POST /admin/organizations": () => ({
    body: { name: fresh("Made") },
    deed: { action: "admin.organization.create", target: ["organization"], organization: "made" },
  }),
  "PATCH /admin/organizations/{organization_id}": async (scene) => {
    const { organization_id } = await apart(scene)
    return { ids: { organization_id }, body: { name: fresh("Name") }, deed: ofOrganization("update", organization_id) }
  },
  "DELETE /admin/organizations/{organization_id}": async (scene) => {
    const { organization_id } = await apart(scene)
    const confirm = await nameOf(scene, organization_id)
    return { ids: { organization_id }, body: { confirm }, deed: ofOrganization("delete", organization_id) }
  },
  "PUT /admin/organizations/{organization_id}/members/{user}": async (scene) => {
    const { organization_id } = await apart(scene)
    const { id } = await signedIn(scene.world, {})
    const deed = { action: "admin.member.put", target: ["user", id], organization: organization_id } as const
    return { ids: { organization_id, user: id }, body: { role: "owner" }, deed }
  },
  "DELETE /admin/organizations/{organization_id}/members/{user}": async (scene) => {
    const { organization_id } = await apart(scene)
    const { id } = await scene.somebody({ role: "viewer" })
    const deed = { action: "admin.member.remove", target: ["user", id], organization: organization_id } as const
    return { ids: { organization_id, user: id }, body: {}, deed }
  },
  "POST /admin/sites/{site_id}/transfer": async (scene) => {
    const ids = await apart(scene)
    const { id } = await scene.world.instance.app.instance.organizations.create({ name: fresh("Other") })
    return { ids, body: { organization_id: id }, deed: { ...ofSite("transfer", ids), organization: id } }
  },
  "POST /admin/sites/{site_id}/purge": async (scene) => {
    const ids = await apart(scene)
    return { ids, body: { before: "2026-01-01" }, deed: { ...ofSite("purge", ids), work: RETAINED } }
  },
  "DELETE /admin/sites/{site_id}": async (scene) => {
    const ids = await apart(scene)
    return { ids, deed: ofSite("delete", ids) }
  },
  "POST /admin/sites/{site_id}/restore": async (scene) => {
    const ids = await apart(scene)
    await scene.prepare(await scene.chief(), "DELETE", `/admin/sites/${ids.site_id}`)
    return { ids, deed: ofSite("restore", ids) }
  },
  "PUT /admin/host-disputes/{host}": async (scene) => {
    const { organization_id } = await apart(scene)
    const host = await disputedHost(scene)
    return { ids: { host }, body: { organization_id }, deed: ofDispute("decide", host, organization_id) }
  },
  "DELETE /admin/host-disputes/{host}": async (scene) => {
    const { organization_id } = await apart(scene)
    const host = await disputedHost(scene)
    await scene.prepare(await scene.chief(), "PUT", `/admin/host-disputes/${host}`, { organization_id })
    return { ids: { host }, deed: ofDispute("withdraw", host, organization_id) }
  },
  "DELETE /admin/invitations/{invitation_id}": ({ organization }) => ({
    deed: { action: "admin.invitation.delete", target: ["invitation"], organization },
  }),
  "POST /admin/api-keys/{api_key_id}/revoke": ({ organization }) => ({
    deed: { action: "admin.key.revoke", target: ["api_key"], organization },
  }),
  "DELETE /admin/sessions/{session_id}": () => ({ deed: { action: "admin.session.end", target: ["session"] } }),

  "POST /admin/storage/vacuum": () => ({
    body: { store: "catalog" },
    deed: { action: "admin.store.vacuum", target: ["store", "catalog"], work: ["admin.store.vacuum-end"] },
  }),
  "POST /admin/storage/analyze": () => ({
    body: { store: "events" },
    deed: { action: "admin.store.analyze", target: ["store", "events"], work: ["admin.store.analyze-end"] },
  }),
  "PUT /admin/retention": async (scene) => {
    const { organization_id, site_id } = await apart(scene)
    const deed = { action: "admin.retention.update", target: ["site", site_id], organization: organization_id, site: site_id } as const
    return { body: { sites: [{ site_id, retention_days: 400 }] }, deed }
  },
  "POST /admin/retention/preview": () => ({ body: {}, silent: "It counts, and changes nothing." }),
  "POST /admin/retention/run": async (scene) => {
    const { organization_id, site_id } = await apart(scene)
    const target = ["site", site_id] as const
    const deed = { action: "admin.retention.run", target, organization: organization_id, site: site_id, work: RETAINED }
    return { body: { site_id, retention_days: 400 }, deed }
  },
  "POST /admin/jobs/{job_id}/cancel": async (scene) => ({
    ids: { job_id: await waitingJob(scene) },
    deed: { action: "admin.job.cancel", target: ["job"] },
  }),
  "POST /admin/jobs/{job_id}/retry": async (scene) => ({
    ids: { job_id: await waitingJob(scene, true) },
    deed: { action: "admin.job.retry", target: ["job"] },
  }),
  "GET /admin/jobs/{job_id}": async (scene) => ({ ids: { job_id: await waitingJob(scene) } }),
  "PATCH /admin/schedules/{name}": () => {
    minute = (minute + 1) % 60
    return { body: { cron: `${minute} 5 * * *` }, deed: { action: "admin.schedule.update", target: ["schedule"] } }
  },
  "POST /admin/schedules/{name}/run": () => ({ deed: { action: "admin.schedule.run", target: ["schedule"] } }),
  "POST /admin/backups": () => ({
    body: {},
    // It has an id when it is made.
    deed: { action: "admin.backup.create", target: ["backup", ""], work: ["admin.backup.create-end"] },
  }),
  "POST /admin/backups/upload": async (scene) => {
    const { cookie } = await scene.chief()
    const id = await THINGS.backup_id!(scene)
    const { bytes } = await send(scene.world, "GET", `/api/private/admin/backups/${id}/download`, { cookie })
    return {
      body: bytes,
      headers: { "content-type": "application/x-tar" },
      deed: { action: "admin.backup.upload", target: ["backup"] },
    }
  },
  "POST /admin/backups/{backup_id}/verify": () => ({
    body: {},
    deed: { action: "admin.backup.verify", target: ["backup"], work: ["admin.backup.verify-end"] },
  }),
  "POST /admin/backups/{backup_id}/restore": async (scene) => ({
    ids: { backup_id: await THINGS.backup_id!(scene) },
    body: { confirm: "another one" },
    refused: { status: 422, code: "validation_failed" },
    silent: "The process would begin anew; its own tests do so.",
  }),
  "DELETE /admin/backups/{backup_id}": () => ({ deed: { action: "admin.backup.delete", target: ["backup"] } }),
  "POST /admin/maintenance": () => ({
    body: { enabled: false },
    deed: { action: "admin.maintenance.change", target: ["instance", "instance"] },
  }),
  "PATCH /admin/settings": () => {
    minGroup++
    return { body: { changes: { share_min_group: minGroup } }, deed: { action: "admin.setting.update", target: ["instance", "settings"] } }
  },
  "POST /admin/settings/smtp/test": () => ({ body: { to: "someone@example.com" }, silent: "It sends a mail, and changes nothing here." }),
  "POST /admin/settings/oidc/test": () => ({ body: { provider: "oidc" }, silent: "It asks the provider, and changes nothing." }),
  "PUT /admin/backups/schedule": () => ({
    body: { cron: "30 4 * * *", keep: { daily: nextKeep(), weekly: 4 } },
    deed: { action: "admin.backup.schedule", target: ["instance", "backups"] },
  }),
  "POST /admin/updates/check": () => ({
    refused: { status: 409, code: "invalid_state" },
    silent: "There is no address to ask; its own tests have one.",
  }),
  "POST /admin/notices/{notice_id}/dismiss": async ({ world }) => {
    const { alarms } = world.instance.app.instance
    await alarms.raise("backup_damaged", {})
    return { ids: { notice_id: (await alarms.list())[0]!.id }, deed: { action: "admin.notice.dismiss", target: ["notice"] } }
  },
  "PATCH /admin/plugins": (scene) => ({
    body: { id: "spare", enabled: otherWay(scene) },
    deed: { action: "admin.plugin.update", target: ["plugin", "spare"] },
  }),
  "PATCH /admin/features": (scene) => ({
    body: { changes: { spare: otherWay(scene) } },
    deed: { action: "admin.plugin.update", target: ["plugin", "spare"] },
  }),
}
