import type { AreaProof, AreaProofKit, Scene } from "#plugin/test"

/** Revenue in the proofs of all private routes. */
export default function proof({ fresh, made }: AreaProofKit): AreaProof {
  const sale = () => ({ amount: "12.34", currency: "EUR", occurred_at: "2026-11-20T12:00:00Z", external_id: fresh("sale") })
  const added = (scene: Scene) => made(scene, `/sites/${scene.site}/revenue/transactions`, sale())
  return {
    things: { transaction_id: added },
    recipes: {
      "POST /sites/{site}/revenue/transactions": () => {
        const body = sale()
        return { body, auditEntry: { action: "revenue.transaction.create", target: ["transaction", body.external_id] } }
      },
      "POST /sites/{site}/revenue/transactions/{transaction_id}/refund": async (scene) => {
        const id = await added(scene)
        const auditEntry = { action: "revenue.transaction.refund", target: ["transaction", id] } as const
        return { ids: { transaction_id: id }, body: { amount: "1.00" }, auditEntry }
      },
      "DELETE /sites/{site}/revenue/transactions/{transaction_id}": () => ({
        auditEntry: { action: "revenue.transaction.delete", target: ["transaction"] },
      }),
      "PUT /sites/{site}/revenue/settings": async (scene) => {
        const { version } = await scene.prepare(await scene.organizationOwner(), "GET", `/sites/${scene.site}/revenue/settings`)
        const referrers = { ignored_referrers: [`${fresh("pay")}.example`] }
        return {
          body: { base_currency: "USD", refund_basis: "order_date", include_client: false, lookback_days: 7, ...referrers, version },
          auditEntry: { action: "revenue.settings.update", target: ["revenue_settings", scene.site] },
        }
      },
      "PUT /sites/{site}/revenue/rates": (scene) => ({
        body: { rates: [{ day: "2026-11-20", base: "EUR", quote: "USD", rate: "1.0853" }] },
        auditEntry: { action: "revenue.rates.update", target: ["revenue_rates", scene.site] },
      }),
      "POST /sites/{site}/revenue/recompute": async (scene) => {
        await scene.moveApart()
        return { auditEntry: { action: "revenue.transactions.recompute", target: ["revenue_settings", scene.site] } }
      },
    },
  }
}
