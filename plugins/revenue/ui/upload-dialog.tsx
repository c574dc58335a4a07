import { useState } from "preact/hooks"
import { Button, Dialog, Field, Form, send, toast } from "#plugin/ui"
import { revenuePath, useRefresh } from "./answers.ts"

const KINDS = {
  transactions: {
    title: "Upload transactions",
    method: "POST",
    columns: "type,order_id,external_id,amount,currency,occurred_at,tax,shipping,discount,note",
    text: "At most 100 transactions. If a line has an error, none are added. The columns amount and occurred_at are required.",
    done: "Transactions added",
  },
  rates: {
    title: "Upload exchange rates",
    method: "PUT",
    columns: "date,base,quote,rate",
    text: "At most 10,000 rates. A rate replaces the one of the same day and currencies. If a line has an error, none are saved.",
    done: "Exchange rates saved",
  },
} as const

interface UploadDialogProps {
  siteId: number
  kind: keyof typeof KINDS
  onClose(): void
}

/** Dialog that sends a CSV file, whose faults name their line. */
export default function UploadDialog({ siteId, kind, onClose }: UploadDialogProps) {
  const { title, method, columns, text, done } = KINDS[kind]
  const [file, setFile] = useState<File>()
  const [isMissing, setMissing] = useState(false)
  const refresh = useRefresh(siteId)
  const submit = async () => {
    setMissing(!file)
    if (!file) return
    await send(`${revenuePath(siteId)}/${kind}`, { method, headers: { "content-type": "text/csv" }, body: await file.text() })
    await refresh()
    toast(done)
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit={submit} label={title}>
        {({ busy }) => (
          <>
            <p>{text}</p>
            <pre class="snippet" tabIndex={0}>
              {columns}
            </pre>
            <Field label="CSV file" error={isMissing ? "Choose a file." : undefined}>
              {(described) => (
                <input
                  {...described}
                  class="input"
                  type="file"
                  accept=".csv,text/csv"
                  onChange={(event) => setFile(event.currentTarget.files?.[0])}
                />
              )}
            </Field>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Upload
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
