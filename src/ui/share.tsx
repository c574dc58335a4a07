/** Script of the pages of shares, for everyone who has their URL. It contains nothing that only members need. */
import { ShareRouter } from "./router/share-screens.tsx"
import { start } from "./start.tsx"

start(ShareRouter)
