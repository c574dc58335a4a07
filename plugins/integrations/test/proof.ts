import { sql } from "#plugin"
import type { AreaProof, AreaProofKit, Scene } from "#plugin/test"

const webhook = (verb: string) => ({ auditEntry: { action: `integrations.webhook.${verb}`, target: ["webhook"] } }) as const
const hook = (verb: string) => ({ auditEntry: { action: `integrations.hook.${verb}`, target: ["payment_hook"] } }) as const
const alert = (verb: string) => ({ auditEntry: { action: `integrations.alert.${verb}`, target: ["alert"] } }) as const
const report = (verb: string) => ({ auditEntry: { action: `integrations.report.${verb}`, target: ["report"] } }) as const
const integration = (verb: string) => ({ auditEntry: { action: `integrations.integration.${verb}`, target: ["integration"] } }) as const
/** The instances in these proofs may not call loopback, so no test message arrives. */
const UNREACHABLE = { refused: { status: 422, code: "blocked_address" } } as const
const INVALID = { refused: { status: 422, code: "validation_failed" } } as const
const NOT_CONNECTED = { refused: { status: 409, code: "not_connected" } } as const
const URL_INSIDE = "https://127.0.0.1/hook"

/** Integrations in the proofs of all private routes. */
export default function proof({ fresh, made }: AreaProofKit): AreaProof {
  /** An address that is refused when it is called, without a look-up. */
  const newWebhook = () => ({ url: `https://10.0.0.9/${fresh("hook")}`, events: ["*"] })
  /** The last webhook by site: a path names a webhook and one of its deliveries. */
  const webhooks = new Map<number, string | number>()
  async function webhook_id(scene: Scene) {
    const id = await made(scene, `/sites/${scene.site}/webhooks`, newWebhook())
    webhooks.set(scene.site, id)
    return id
  }

  const newHook = () => ({ kind: "stripe", signing_secret: fresh("whsec") })
  const hook_id = (scene: Scene) => made(scene, `/sites/${scene.site}/integrations/hooks`, newHook())

  /** A report that every member may keep: its sole recipient is the caller. */
  async function ownReport(scene: Scene) {
    const { id, email } = await scene.caller()
    await scene.world.instance.app.instance.catalog.run(sql`update users set email_verified_at = 1 where id = ${id}`)
    return { kind: "weekly", recipients: [email] }
  }
  const report_id = async (scene: Scene) => made(scene, `/sites/${scene.site}/reports`, await ownReport(scene))

  const alert_id = (scene: Scene) => made(scene, `/sites/${scene.site}/alerts`, { type: "drop" })

  /** Creates a webhook with a delivery, and returns the ids of both. */
  async function ids(scene: Scene) {
    const id = await webhook_id(scene)
    return { webhook_id: id, delivery: await deliveryOf(scene, id) }
  }
  async function deliveryOf(scene: Scene, id: string | number): Promise<number> {
    const { catalog } = scene.world.instance.app.instance
    const row = await catalog.get<{ id: number }>(sql`
      insert into integrations_deliveries (webhook_id, event, message_id, sequence, created_at)
      values (${Number(id)}, 'ping', ${fresh("msg")}, 1, 0) returning id`)
    return row!.id
  }
  async function integration_id(scene: Scene): Promise<number> {
    const { catalog, sites } = scene.world.instance.app.instance
    const { organization_id } = sites.directory.byId(Number(scene.site))!
    const row = await catalog.get<{ id: number }>(sql`
      insert into integrations_integrations (organization_id, site_id, kind, name, created_at, updated_at)
      values (${organization_id}, ${Number(scene.site)}, 'slack', ${fresh("Chat")}, 0, 0) returning id`)
    return row!.id
  }
  const connect = (body: object) => () => ({ body, ...UNREACHABLE })
  const byUrl = connect({ url: URL_INSIDE })

  return {
    things: {
      webhook_id,
      hook_id,
      report_id,
      alert_id,
      integration_id,
      delivery: (scene) => deliveryOf(scene, webhooks.get(scene.site) ?? 0),
    },
    recipes: {
      "POST /sites/{site}/integrations/slack/connect": byUrl,
      "POST /sites/{site}/integrations/discord/connect": byUrl,
      "POST /sites/{site}/integrations/teams/connect": byUrl,
      "POST /sites/{site}/integrations/mattermost/connect": byUrl,
      "POST /sites/{site}/integrations/ntfy/connect": byUrl,
      // A token that looks right would be sent to Telegram.
      "POST /sites/{site}/integrations/telegram/connect": () => ({
        body: { api_key: "1", config: { chat_id: "1" } },
        refused: { status: 422, code: "validation_failed" },
      }),
      // Instances in these proofs have no client at Google, and reach no search engine.
      "POST /sites/{site}/integrations/search-console/connect": () => ({ body: {}, ...INVALID }),
      "POST /sites/{site}/integrations/google-analytics/connect": () => ({ body: {}, ...INVALID }),
      "POST /sites/{site}/integrations/bing-webmaster/connect": () => ({ body: { api_key: "?" }, ...INVALID }),
      "GET /sites/{site}/integrations/search-console/properties": () => NOT_CONNECTED,
      "GET /sites/{site}/integrations/google-analytics/properties": () => NOT_CONNECTED,
      "PUT /sites/{site}/integrations/search-console/mapping": () => ({
        body: { integration_id: 9_999, property: "sc-domain:shop.example" },
        ...INVALID,
      }),
      "POST /sites/{site}/integrations/search-console/sync": () => NOT_CONNECTED,
      "GET /sites/{site}/search-console/report": () => NOT_CONNECTED,
      "GET /sites/{site}/search-console/report.csv": () => NOT_CONNECTED,
      "GET /integrations/oauth/callback": () => ({ refused: { status: 400, code: "invalid_oauth_state" } }),
      "PATCH /sites/{site}/integrations/{integration_id}": () => ({ body: { name: fresh("Chat") }, ...integration("update") }),
      "DELETE /sites/{site}/integrations/{integration_id}": () => integration("delete"),
      "POST /sites/{site}/integrations/{integration_id}/test": () => integration("test"),
      "POST /sites/{site}/integrations/hooks": () => ({ body: newHook(), ...hook("create") }),
      "PATCH /sites/{site}/integrations/hooks/{hook_id}": () => ({ body: { enabled: false }, ...hook("update") }),
      "DELETE /sites/{site}/integrations/hooks/{hook_id}": () => hook("delete"),
      "POST /sites/{site}/integrations/hooks/{hook_id}/rotate-secret": () => ({
        body: { signing_secret: fresh("whsec") },
        ...hook("rotate-secret"),
      }),
      "POST /sites/{site}/alerts": () => ({ body: { type: "spike" }, ...alert("create") }),
      "PATCH /sites/{site}/alerts/{alert_id}": () => ({ body: { threshold: 9 }, ...alert("update") }),
      "DELETE /sites/{site}/alerts/{alert_id}": () => alert("delete"),
      "POST /sites/{site}/alerts/{alert_id}/test": () => alert("test"),
      "POST /sites/{site}/reports": async (scene) => ({ body: await ownReport(scene), ...report("create") }),
      "PATCH /sites/{site}/reports/{report_id}": () => ({ body: { hour: 9 }, ...report("update") }),
      "DELETE /sites/{site}/reports/{report_id}": () => report("delete"),
      "POST /sites/{site}/reports/{report_id}/send-now": () => report("send"),
      "POST /sites/{site}/webhooks": () => ({ body: newWebhook(), ...webhook("create") }),
      "PATCH /sites/{site}/webhooks/{webhook_id}": () => ({ body: { description: fresh("Note") }, ...webhook("update") }),
      "DELETE /sites/{site}/webhooks/{webhook_id}": () => webhook("delete"),
      "POST /sites/{site}/webhooks/{webhook_id}/test": () => webhook("test"),
      "POST /sites/{site}/webhooks/{webhook_id}/rotate-secret": () => webhook("rotate-secret"),
      "GET /sites/{site}/webhooks/{webhook_id}/deliveries/{delivery}": async (scene) => ({ ids: await ids(scene) }),
      "POST /sites/{site}/webhooks/{webhook_id}/deliveries/{delivery}/redeliver": async (scene) => {
        const own = await ids(scene)
        return { ids: own, auditEntry: { action: "integrations.webhook.redeliver", target: ["webhook", own.webhook_id] } }
      },
    },
  }
}
