import { Button, CopyButton, DescriptionList, Dialog, Form, post, QueryResult, TimeAgo, timeText, toast, visible } from "#plugin/ui"
import type { DeliveryWithBody } from "../../webhooks/responses.ts"
import { DeliveryState, responseText, useRefresh, useSiteQuery, webhooksPath } from "./items.tsx"

interface DeliveryDialogProps {
  siteId: number
  webhookId: number
  id: number
  onClose(): void
}

/** Dialog with one delivery: the message as it is sent, the last response, and a button that sends it again. */
export function DeliveryDialog({ siteId, webhookId, id, onClose }: DeliveryDialogProps) {
  const path = `webhooks/${webhookId}/deliveries/${id}`
  const answer = useSiteQuery<DeliveryWithBody>(siteId, path)
  const refresh = useRefresh(siteId)
  const redeliver = async () => {
    await post(`${webhooksPath(siteId)}/${webhookId}/deliveries/${id}/redeliver`, undefined)
    await refresh()
    toast("Delivery queued again")
    onClose()
  }
  return (
    <Dialog title={answer.data ? visible(answer.data.event) : "Delivery"} onClose={onClose} wide>
      <QueryResult of={answer} rows={5}>
        {(delivery) => (
          <Form submit={redeliver} label="Delivery">
            {({ busy }) => (
              <>
                <Facts of={delivery} />
                <Message body={delivery.body} />
                {delivery.detail !== null && (
                  <section class="stack" aria-labelledby="delivery-response">
                    <h3 id="delivery-response">{delivery.status === null ? "Failure" : "Last response"}</h3>
                    {delivery.detail === "" ? (
                      <p class="quiet">The response was empty.</p>
                    ) : (
                      <pre tabIndex={0}>{visible(delivery.detail)}</pre>
                    )}
                  </section>
                )}
                <div class="dialog-foot">
                  <Button onClick={onClose}>Close</Button>
                  <Button kind="primary" type="submit" busy={busy} disabled={delivery.body === null}>
                    Redeliver
                  </Button>
                </div>
              </>
            )}
          </Form>
        )}
      </QueryResult>
    </Dialog>
  )
}

const Facts = ({ of }: { of: DeliveryWithBody }) => (
  <DescriptionList
    of={[
      ["State", <DeliveryState key="state" of={of} />],
      ["Response", `${responseText(of)}${of.ms === null ? "" : ` after ${of.ms} ms`}`],
      ["Attempts", String(of.attempt)],
      ...(of.next_at ? [["Next attempt", <TimeAgo key="next" at={of.next_at} />] as const] : []),
      ["Created", timeText(of.created_at)],
      ["Message ID", <code key="message">{of.message_id}</code>],
      ["Sequence", String(of.sequence)],
    ]}
  />
)

const Message = ({ body }: { body: string | null }) => (
  <section class="stack" aria-labelledby="delivery-message">
    <h3 id="delivery-message">Message</h3>
    {body === null ? (
      <p class="quiet">The event is no longer stored, so the message can't be shown or sent again.</p>
    ) : (
      <>
        <pre tabIndex={0}>{indented(body)}</pre>
        <div class="row">
          <CopyButton text={body} label="Copy message" />
        </div>
      </>
    )}
  </section>
)

/** Returns JSON text with line breaks. Characters that change the direction of text are shown as escapes. */
const indented = (body: string): string => JSON.stringify(JSON.parse(body), null, 2).split("\n").map(visible).join("\n")
