import type { AreaProof, AreaProofKit, Scene } from "#plugin/test"

const board = (verb: string) => ({ auditEntry: { action: `dashboards.dashboard.${verb}`, target: ["dashboard"] } }) as const
/** For answers in which the id of the new dashboard is not at the top. */
const copy = { auditEntry: { action: "dashboards.dashboard.create", target: ["dashboard", "*"] } } as const
const READS = "it only reads"
const note = { type: "text", x: 0, y: 0, w: 4, h: 2, config: { markdown: "Hello" } }

/** Dashboards in the proofs of all private routes. Everyone has private ones of their own, so the caller creates them. */
export default function proof({ fresh }: AreaProofKit): AreaProof {
  /** The file of the last dashboard's widget, by site: a path names both. */
  const files = new Map<number, string>()
  async function made(scene: Scene) {
    const body = { name: fresh("Board"), widgets: [note] }
    const path = `/sites/${scene.site}/dashboards`
    const { id, widgets } = (await scene.prepare(await scene.caller(), "POST", path, body)) as { id: number; widgets: { id: number }[] }
    const file = `${widgets[0]!.id}.csv`
    files.set(scene.site, file)
    return { id, file }
  }
  const dashboard_id = async (scene: Scene) => (await made(scene)).id
  async function deletedBoard(scene: Scene): Promise<number> {
    const id = await dashboard_id(scene)
    await scene.prepare(await scene.caller(), "DELETE", `/sites/${scene.site}/dashboards/${id}`)
    return id
  }
  /** A dashboard that all see who may share, with a share. */
  async function madeShare(scene: Scene) {
    const owner = await scene.organizationOwner()
    const at = `/sites/${scene.site}/dashboards`
    const { id } = (await scene.prepare(owner, "POST", at, { name: fresh("Board"), visibility: "site" })) as { id: number }
    const share = (await scene.prepare(owner, "POST", `${at}/${id}/shares`, { name: fresh("Share") })) as { id: number }
    return { dashboard_id: id, share_id: share.id }
  }
  const share = (verb: string) => ({ auditEntry: { action: `dashboards.share.${verb}`, target: ["dashboard_share"] } }) as const
  const whole = { description: "", visibility: "private", range: { period: "28d" }, filters: [], refresh_s: 0, widgets: [note], version: 1 }
  const document = { format: "footfall-dashboard", version: 1, widgets: [note] }
  const site = (scene: Scene, action: string) =>
    ({ auditEntry: { action: `dashboards.${action}.update`, target: ["site", scene.site] } }) as const

  return {
    things: { dashboard_id, file: async ({ site }) => files.get(site) ?? "1.csv" },
    recipes: {
      "POST /sites/{site}/dashboards": () => ({ body: { name: fresh("Board") }, ...board("create") }),
      "PUT /sites/{site}/dashboards/order": (scene) => ({ body: { ids: [0] }, ...site(scene, "order") }),
      "PUT /sites/{site}/dashboards/default": (scene) => ({ body: { dashboard_id: 0, scope: "me" }, ...site(scene, "preference") }),
      "POST /sites/{site}/dashboards/import": () => ({ body: { ...document, name: fresh("Board") }, ...copy }),
      "PUT /sites/{site}/dashboards/{dashboard_id}": () => ({ body: { ...whole, name: fresh("Board") }, ...board("update") }),
      "PATCH /sites/{site}/dashboards/{dashboard_id}": () => ({ body: { name: fresh("Board") }, ...board("update") }),
      "DELETE /sites/{site}/dashboards/{dashboard_id}": () => board("delete"),
      "POST /sites/{site}/dashboards/{dashboard_id}/restore": async (scene) => ({
        ids: { dashboard_id: await deletedBoard(scene) },
        ...board("restore"),
      }),
      "POST /sites/{site}/dashboards/{dashboard_id}/duplicate": () => ({ body: {}, ...copy }),
      "POST /sites/{site}/dashboards/{dashboard_id}/data": () => ({ body: {}, silent: READS }),
      "POST /sites/{site}/dashboards/{dashboard_id}/preview": () => ({ body: { widgets: [note] }, silent: READS }),
      "GET /sites/{site}/dashboards/{dashboard_id}/widgets/{file}": async (scene) => {
        const { id, file } = await made(scene)
        return { ids: { dashboard_id: id, file } }
      },
      "POST /sites/{site}/dashboards/{dashboard_id}/shares": async (scene) => ({
        ids: { dashboard_id: (await madeShare(scene)).dashboard_id },
        body: { name: fresh("Share") },
        ...share("create"),
      }),
      "PATCH /sites/{site}/dashboards/{dashboard_id}/shares/{share_id}": async (scene) => ({
        ids: await madeShare(scene),
        body: { name: fresh("Share") },
        ...share("update"),
      }),
      "DELETE /sites/{site}/dashboards/{dashboard_id}/shares/{share_id}": async (scene) => ({
        ids: await madeShare(scene),
        ...share("delete"),
      }),
      // Each caller sees other sites, so the proof names none.
      "GET /dashboard-widgets": () => ({ refused: { status: 400, code: "invalid_query" } }),
    },
  }
}
