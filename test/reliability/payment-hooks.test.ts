import { expect } from "bun:test"
import { renameSync } from "node:fs"
import { join } from "node:path"
import { PAYMENT_INTENT, signatureOf, stripeEvent } from "../../plugins/integrations/test/payments/providers.ts"
import { SITE, startShop } from "../../plugins/integrations/test/payments/shop.ts"
import { serving } from "../cli/footfall.ts"
import { temporaryFolder } from "../kit.ts"
import { bySize, longTest, SEED } from "../size.ts"

/** Number of kills, each at another moment between the arrival of an event and the transaction that it becomes. */
const KILLS = bySize({ check: 3, full: 12, release: 60 })
const LONGEST_DELAY_MS = 30

longTest(
  "records each payment once when the process is killed between its arrival and its transaction, and the provider repeats it",
  async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, "data")
    const shop = await startShop({ now: new Date().toISOString() })
    const { path } = await shop.hook("stripe")
    const cookie = await shop.instance.signIn({ role: "owner" })
    await shop.instance.app.stop()
    renameSync(shop.instance.dataDir, dataDir)
    const eventOf = (number: number) =>
      JSON.stringify(
        stripeEvent(
          "payment_intent.succeeded",
          { ...PAYMENT_INTENT, id: `pi_${number}`, latest_charge: `ch_${number}`, metadata: {} },
          `evt_${number}`,
        ),
      )
    const send = (address: string, body: string) =>
      fetch(address + path, { method: "POST", body, headers: signatureOf("stripe", body, { at: Date.now() }) })
    for (let number = 0; number < KILLS; number++) {
      await using server = await serving(dataDir)
      const first = send(server.address, eventOf(number)).catch(() => undefined)
      await Bun.sleep(((SEED + number * 7_919) % (LONGEST_DELAY_MS * 10)) / 10)
      await server.end("SIGKILL")
      await first
    }
    await using server = await serving(dataDir)
    for (let number = 0; number < KILLS; number++) expect((await send(server.address, eventOf(number))).status).toBe(200)
    const transactions = async () => {
      const answer = await fetch(`${server.address}${SITE}/revenue/transactions?limit=200`, { headers: { cookie } })
      return ((await answer.json()) as { data: { external_id: string }[] }).data.map(({ external_id }) => external_id).sort()
    }
    for (let round = 0; round < 100 && (await transactions()).length < KILLS; round++) await Bun.sleep(100)
    const expected = Array.from({ length: KILLS }, (_, number) => `pi_${number}`).sort()
    expect(await transactions()).toEqual(expected)
  },
  60_000 + KILLS * 10_000,
)
