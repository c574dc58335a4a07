import type { Recipe } from "./recipes.ts"
import { fresh, PASSWORD, type Person, type Scene, signedIn } from "./scene.ts"

const user = (verb: string) => ({ deed: { action: `admin.user.${verb}`, target: ["user"] } }) as const

/** Somebody who wants it: `enable` has nothing to do otherwise, for one. */
async function userWho(scene: Scene, ...deeds: readonly string[]): Promise<Person> {
  const who = await signedIn(scene.world, {})
  for (const deed of deeds) await scene.prepare(await scene.chief(), "POST", `/admin/users/${who.id}/${deed}`)
  return who
}

let isSpareOn = true
/** The plugin that is there to be switched, the other way each time. */
function otherWay(): boolean {
  isSpareOn = !isSpareOn
  return isSpareOn
}

let minGroup = 5

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
  "POST /admin/maintenance": () => ({
    body: { enabled: false },
    deed: { action: "admin.maintenance.change", target: ["instance", "instance"] },
  }),
  "PATCH /admin/settings": () => {
    minGroup++
    return { body: { changes: { share_min_group: minGroup } }, deed: { action: "admin.setting.update", target: ["setting", "*"] } }
  },
  "POST /admin/settings/smtp/test": () => ({ body: { to: "someone@example.com" }, silent: "It sends a mail, and changes nothing here." }),
  "PATCH /admin/plugins": () => ({
    body: { id: "spare", enabled: otherWay() },
    deed: { action: "admin.plugin.update", target: ["plugin", "spare"] },
  }),
  "PATCH /admin/features": () => ({
    body: { changes: { spare: otherWay() } },
    deed: { action: "admin.plugin.update", target: ["plugin", "spare"] },
  }),
}
