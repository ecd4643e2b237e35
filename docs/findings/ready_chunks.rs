// Shows that a backlog in a channel of tokio leaves in short chunks once for each 128 requests (docs/findings.md).
//
// Cargo.toml: tokio = { version = "1", features = ["full"] }, tokio-stream = "0.1", futures-util = "0.3"
use futures_util::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;

#[tokio::main]
async fn main() {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<u32>();
    for number in 0..300 {
        sender.send(number).unwrap();
    }
    drop(sender);
    let worker = tokio::spawn(async move {
        let mut chunks = UnboundedReceiverStream::new(receiver).ready_chunks(20);
        while let Some(chunk) = chunks.next().await {
            print!("{} ", chunk.len());
        }
        println!();
    });
    worker.await.unwrap();
}
