import { fresh, type Json, type Scene } from "../scene.ts"
import type { Recipe } from "./recipes.ts"
import { ERASURE, FILTERS, ownHost, THINGS } from "./things.ts"

const STEPS = [
  { type: "page", value: "/" },
  { type: "event", value: "signup" },
]
const SHARE_PASSWORD = "a password to share"
const NUMBERS = "It only returns figures."

/** The caller owns the site's organization and another one. */
async function twoOrganizations(scene: Scene): Promise<number> {
  const { id } = await scene.world.instance.app.instance.organizations.create({ name: fresh("Second") })
  await scene.join(await scene.caller(), id, "owner")
  return id
}

const thing = (noun: string, verb: string) => ({ auditEntry: { action: `sites.${noun}.${verb}`, target: [noun] } }) as const

/** Routes below `/sites`. */
export const SITE_RECIPES: Readonly<Record<string, Recipe>> = {
  "PATCH /sites/{site}": ({ site }) => ({
    body: { name: fresh("Site") },
    auditEntry: { action: "sites.site.update", target: ["site", site] },
  }),
  "DELETE /sites/{site}": async (scene) => {
    await scene.moveApart()
    return { auditEntry: { action: "sites.site.delete", target: ["site", scene.site] } }
  },
  "POST /sites/{site}/restore": async (scene) => {
    await scene.moveApart()
    await scene.caller()
    await scene.prepare(await scene.organizationOwner(), "DELETE", `/sites/${scene.site}`)
    return { auditEntry: { action: "sites.site.restore", target: ["site", scene.site] } }
  },
  "POST /sites/{site}/transfer": async (scene) => {
    await scene.moveApart()
    return {
      body: { organization_id: await twoOrganizations(scene) },
      auditEntry: { action: "sites.site.transfer", target: ["site", scene.site] },
    }
  },
  "PUT /sites/{site}/pin": ({ site }) => ({ auditEntry: { action: "sites.site.pin", target: ["site", site] } }),
  "DELETE /sites/{site}/pin": async (scene) => {
    await scene.prepare(await scene.caller(), "PUT", `/sites/${scene.site}/pin`)
    return { auditEntry: { action: "sites.site.unpin", target: ["site", scene.site] } }
  },
  "PATCH /sites/{site}/settings": ({ site }) => ({
    body: { allowed_query_params: [fresh("p")] },
    auditEntry: { action: "sites.settings.update", target: ["site", site] },
  }),
  "POST /sites/{site}/settings/host-proofs": async (scene) => ({ body: { host: await ownHost(scene) }, ...thing("host_proof", "create") }),
  "POST /sites/{site}/settings/host-proofs/{host_proof_id}/verify": () => ({
    refused: { status: 409, code: "domain_not_verified" },
    silent: "The test hosts have no DNS records; the entry is tested where records are provided.",
  }),
  "DELETE /sites/{site}/settings/host-proofs/{host_proof_id}": () => thing("host_proof", "delete"),
  "GET /sites/{site}/retention-preview": () => ({ query: "days=30" }),

  "GET /sites/{site}/stats/breakdown": () => ({ query: "dimension=page" }),
  "GET /sites/{site}/stats/values": () => ({ query: "dimension=page" }),
  "GET /sites/{site}/stats/properties": () => ({ query: "event=signup" }),
  "POST /sites/{site}/stats/journeys": () => ({ body: { start: { page: "/" }, steps: 3 }, silent: NUMBERS }),
  "POST /sites/{site}/stats/funnel": () => ({ body: { steps: STEPS }, silent: NUMBERS }),
  "POST /sites/{site}/stats/batch": () => ({ body: { queries: [{ id: "a", report: "summary" }] }, silent: NUMBERS }),

  "POST /sites/{site}/goals": () => ({ body: { kind: "event", value: fresh("event") }, ...thing("goal", "create") }),
  "POST /sites/{site}/goals/test": () => ({ body: { kind: "event", value: "signup" }, silent: NUMBERS }),
  "PATCH /sites/{site}/goals/{goal_id}": () => ({ body: { name: fresh("Goal") }, ...thing("goal", "update") }),
  "DELETE /sites/{site}/goals/{goal_id}": () => thing("goal", "delete"),
  "POST /sites/{site}/funnels": () => ({ body: { name: fresh("Funnel"), steps: STEPS }, ...thing("funnel", "create") }),
  "PATCH /sites/{site}/funnels/{funnel_id}": () => ({ body: { name: fresh("Funnel") }, ...thing("funnel", "update") }),
  "DELETE /sites/{site}/funnels/{funnel_id}": () => thing("funnel", "delete"),
  "POST /sites/{site}/shields": () => ({ body: { kind: "page", value: `/${fresh("page")}` }, ...thing("shield", "create") }),
  "PATCH /sites/{site}/shields/{shield_id}": () => ({ body: { note: fresh("Note") }, ...thing("shield", "update") }),
  "DELETE /sites/{site}/shields/{shield_id}": () => thing("shield", "delete"),
  "POST /sites/{site}/shares": () => ({
    body: { name: fresh("Share"), password: SHARE_PASSWORD },
    auditEntry: { action: "sites.share.create", target: ["share"], secrets: ({ slug }: Json) => [slug, SHARE_PASSWORD] },
  }),
  "PATCH /sites/{site}/shares/{share_id}": () => ({
    body: { name: fresh("Share"), password: SHARE_PASSWORD },
    auditEntry: { action: "sites.share.update", target: ["share"], secrets: ({ slug }: Json) => [slug, SHARE_PASSWORD] },
  }),
  "DELETE /sites/{site}/shares/{share_id}": () => thing("share", "delete"),
  "POST /sites/{site}/erase/preview": () => ({ body: ERASURE, silent: NUMBERS }),
  "POST /sites/{site}/erase": async (scene) => {
    const { confirm } = await scene.prepare(await scene.caller(), "POST", `/sites/${scene.site}/erase/preview`, ERASURE)
    return { body: { ...ERASURE, confirm }, auditEntry: { action: "sites.erasure.begin", target: ["site", scene.site] } }
  },
  "POST /sites/{site}/reset": async (scene) => {
    await scene.moveApart()
    const { name } = await scene.prepare(await scene.organizationOwner(), "GET", `/sites/${scene.site}`)
    return { body: { confirm: name }, auditEntry: { action: "sites.reset.begin", target: ["site", scene.site] } }
  },
  "POST /sites/{site}/takeout": ({ site }) => ({ auditEntry: { action: "sites.takeout.begin", target: ["site", site] } }),
  "GET /sites/{site}/takeout/{takeout_id}/file": async (scene) => {
    const takeout_id = await THINGS.takeout_id!(scene)
    await scene.world.instance.app.instance.jobs.drain()
    return { ids: { takeout_id } }
  },
  "GET /sites/{site}/export": () => ({ query: "type=page" }),
  "POST /sites/{site}/segments": () => ({
    body: { name: fresh("Segment"), scope: "personal", filters: FILTERS },
    ...thing("segment", "create"),
  }),
  "PATCH /sites/{site}/segments/{segment_id}": () => ({ body: { name: fresh("Segment") }, ...thing("segment", "update") }),
  "DELETE /sites/{site}/segments/{segment_id}": () => thing("segment", "delete"),
  "POST /sites/{site}/annotations": () => ({
    body: { at: "2026-11-20", text: fresh("Note"), scope: "personal" },
    ...thing("annotation", "create"),
  }),
  "PATCH /sites/{site}/annotations/{annotation_id}": () => ({ body: { text: fresh("Note") }, ...thing("annotation", "update") }),
  "DELETE /sites/{site}/annotations/{annotation_id}": () => thing("annotation", "delete"),
}
