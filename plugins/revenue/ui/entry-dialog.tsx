import { useState } from "preact/hooks"
import { Button, Dialog, Form, post, SelectField, TextField, toast, useSite } from "#plugin/ui"
import { revenuePath, TYPE_LABELS, useRefresh } from "./answers.ts"

const TYPES = Object.entries(TYPE_LABELS).map(([value, label]) => ({ value, label }))

/** Dialog that adds a transaction by hand. */
export default function EntryDialog({ siteId, onClose }: { siteId: number; onClose(): void }) {
  const { data: site } = useSite(siteId)
  const [type, setType] = useState("sale")
  const [amount, setAmount] = useState("")
  const [currency, setCurrency] = useState(site?.revenue_currency ?? "")
  const [order, setOrder] = useState("")
  const [at, setAt] = useState(localNow())
  const [note, setNote] = useState("")
  const refresh = useRefresh(siteId)
  const submit = async () => {
    const isTime = !Number.isNaN(Date.parse(at))
    await post(`${revenuePath(siteId)}/transactions`, {
      ...{ type, amount: amount.trim(), occurred_at: isTime ? new Date(at).toISOString() : at },
      ...(currency.trim() && { currency: currency.trim().toUpperCase() }),
      ...(order.trim() && { order_id: order.trim() }),
      ...(note.trim() && { note: note.trim() }),
    })
    await refresh()
    toast(`${TYPE_LABELS[type as "sale"]} added`)
    onClose()
  }
  return (
    <Dialog title="Add transaction" onClose={onClose}>
      <Form submit={submit} label="Transaction">
        {({ busy, errorOf }) => (
          <>
            <SelectField label="Type" value={type} options={TYPES} onValue={setType} error={errorOf("/type")} />
            <div class="narrow-fields">
              <TextField
                label="Amount"
                value={amount}
                onValue={setAmount}
                inputMode="decimal"
                error={errorOf("/amount")}
                required
                autofocus
              />
              <TextField label="Currency" value={currency} onValue={setCurrency} error={errorOf("/currency")} maxLength={3} />
            </div>
            <TextField
              label={type === "sale" ? "Order ID (optional)" : "Order ID"}
              value={order}
              onValue={setOrder}
              error={errorOf("/order_id")}
              maxLength={200}
              note={
                type === "sale"
                  ? "A sale that a browser reported with this ID is confirmed instead of counted twice."
                  : "The order that it belongs to."
              }
            />
            <TextField
              label="Time"
              type="datetime-local"
              value={at}
              onValue={setAt}
              error={errorOf("/occurred_at")}
              note="In the time zone of this browser."
            />
            <TextField label="Note (optional)" value={note} onValue={setNote} error={errorOf("/note")} maxLength={500} />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Add transaction
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** The current minute, as a field for local times takes it. */
function localNow(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
