import type { ComponentChildren } from "preact"
import { TopBar } from "./top-bar.tsx"

/** Renders the frame of pages that belong to no single site: the top bar without a rail. */
export const PlainShell = ({ children }: { children: ComponentChildren }) => (
  <>
    <TopBar />
    <div class="frame" data-rail="none">
      <div class="content">{children}</div>
    </div>
  </>
)
