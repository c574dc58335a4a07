import { Button, Dialog, OneTimeSecret } from "#plugin/ui"

/** Shows the signing secret of a new or rotated webhook, this once. */
export function SecretDialog({ secret, isRotated, onClose }: { secret: string; isRotated: boolean; onClose(): void }) {
  return (
    <Dialog title={isRotated ? "New signing secret" : "Webhook created"} onClose={onClose}>
      <div class="stack">
        <OneTimeSecret label="Signing secret" secret={secret} note="Copy the secret now. It won't be shown again." />
        <p>
          Your program verifies each request with it, by the headers <code>webhook-id</code>, <code>webhook-timestamp</code> and{" "}
          <code>webhook-signature</code> of the Standard Webhooks specification.
          {isRotated && " The old secret also signs for 24 hours, so requests verify with either."}
        </p>
        <div class="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            I've saved the secret
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
