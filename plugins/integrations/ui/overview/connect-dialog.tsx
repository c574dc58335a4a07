import { lazy, Suspense } from "preact/compat"
import type { IntegrationList, IntegrationResponse } from "../../responses.ts"

const ChatDialog = lazy(() => import("../chat/chat-dialog.tsx"))
const GoogleDialog = lazy(() => import("../search/google-dialog.tsx"))
const BingDialog = lazy(() => import("../search/bing-dialog.tsx"))
const MapDialog = lazy(() => import("../search/map-dialog.tsx"))

export type Kind = IntegrationList["available"][number]

/** A dialog about an integration: it connects, edits or repairs one, or maps a property. */
export interface OpenDialog {
  kind: Kind
  /** Undefined to connect a new one. */
  item?: IntegrationResponse
  mapping?: true
}

/** The dialog of a kind. An account at Google is renewed as it is connected. */
export function ConnectDialog({ siteId, of: { kind, item, mapping }, onClose }: { siteId: number; of: OpenDialog; onClose(): void }) {
  const edited = { siteId, ...(item && { item }), onClose }
  return (
    <Suspense fallback={<div class="progress-line" />}>
      {mapping ? (
        <MapDialog {...edited} />
      ) : kind.category === "chat" ? (
        <ChatDialog kind={kind} {...edited} />
      ) : kind.kind === "bing-webmaster" ? (
        <BingDialog {...edited} />
      ) : (
        <GoogleDialog siteId={siteId} kind={kind} onClose={onClose} />
      )}
    </Suspense>
  )
}
