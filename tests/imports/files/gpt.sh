#!/bin/bash
#SBATCH --nodes=12
#SBATCH --gpus-per-node=8
# a comment with --num-layers 99 in it
TP=8
PP=${PP:-4}
LAYERS=96
GPT_ARGS="
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP}
    --num-layers-per-virtual-pipeline-stage 3
    --num-layers ${LAYERS} --hidden-size 12288 --num-attention-heads 96
"
BATCH=(--micro-batch-size 1 --global-batch-size $((3 * 16 * 8)))
torchrun --nproc_per_node 8 --nnodes 12 pretrain_gpt.py $GPT_ARGS "${BATCH[@]}" \
    --seq-length=2048 --max-position-embeddings 2048 --fp16 --recompute-activations \
    --sequence-parallel --use-flash-attn --tokenizer-type GPT2BPETokenizer --merge-file $DATA/merges.txt \
    --train-samples 146_484_375 --lr 6.0e-5 --clip-grad 1.0
